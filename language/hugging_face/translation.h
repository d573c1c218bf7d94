#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/core/tree.h"
#include "language/hugging_face/model_type.h"
#include "language/hugging_face/text_model.h"

namespace stepcast::language {

/// Of configurations of any type: what changes nothing of what a step computes, moves or stores.
std::span<const std::string_view> fields_without_effect();

/// From the fields of one configuration to the keys of a model. Every complaint names the field, where it stands, what
/// was found and what is allowed.
class Translation {
 public:
  /// Requires `text` to outlive it.
  Translation(const ModelType& type, const TextModel& text);

  bool knows(std::string_view field) const;   ///< whether the model type has it
  bool states(std::string_view field) const;  ///< whether this configuration has it, not its type alone
  /// The field, or what stands for it where it is left out; nothing: null.
  const Node* find(std::string_view field);
  /// Of several names of one field the one that is given; of none, the first. Throws InputError where two differ.
  std::string_view named(std::initializer_list<std::string_view> names);
  std::int64_t whole(std::string_view field, std::int64_t least = 1);
  double number(std::string_view field);
  bool flag(std::string_view field);
  std::string text(std::string_view field);
  /// Fields that this configuration has no use for, whatever they say.
  void leave(std::initializer_list<std::string_view> fields);
  /// What the field lists; nothing: none. Throws InputError for what is no list.
  std::span<const Node> items(std::string_view field);
  /// The number of the word among `allowed`. Throws InputError for another word.
  std::size_t one_of(std::string_view field, std::initializer_list<std::string_view> allowed);
  /// Throws InputError unless the field, if it is not null, says this.
  void expect(std::string_view field, std::string_view allowed, const std::string& why);
  /// Of fields inside of one that is a mapping: each is one of `idle`, or says what stands beside it in `expected`.
  void expect_inside(std::string_view field,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> expected,
                     std::initializer_list<std::string_view> idle);
  [[noreturn]] void refuse(std::string_view field, const std::string& what) const;
  /// At one of the places of a field.
  [[noreturn]] void refuse_at(const Place& place, std::string_view field, const std::string& what) const;

  /// A key of the model, because of a field.
  void say(std::string_view key, const std::string& value, std::string_view field);
  /// A key with a value that stands somewhere in a field.
  void say(std::string_view key, Node value);
  /// A key that follows from the model type alone.
  void say(std::string_view key, const std::string& value);
  /// The field's whole number as the key.
  void copy(std::string_view key, std::string_view field, std::int64_t least = 1);

  /// The keys said, with those fields in `source` that are left out or have no effect. Throws InputError for a field
  /// that nobody asked for and that is not known to have no effect.
  Node finish(const std::string& name);

 private:
  Place place(std::string_view field) const;
  const Node& needed(std::string_view field);
  [[noreturn]] void unknown(const Entry& entry) const;
  std::string source() const;

  const ModelType& type_;
  const TextModel& text_;
  const Node& config_;           ///< its fields
  std::vector<Node> fallbacks_;  ///< of type_.fields
  std::set<std::string, std::less<>> asked_;
  std::vector<std::string> idle_;  ///< fields without effect
  Node model_;
};

}  // namespace stepcast::language
