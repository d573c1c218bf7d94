#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "language/core/tree.h"
#include "scenario/scenario.h"

namespace stepcast::language {

/// The value of one key of a scenario, or of a name that only one framework has, which begins with '@'.
struct Word {
  std::string text;
  std::string from{};    ///< where it was read, as comments say it; empty: of a scenario
  bool usual = false;    ///< the scenario leaves it to its software, and so may the framework
  Place place{};         ///< where it was read
  std::string unset{};   ///< the variable of a script in the text that nothing sets; empty: none
  std::string remark{};  ///< what a comment on it says besides
};

/// A plan as text: the path of a key and its value, both as --set has them.
using Words = std::map<std::string, Word, std::less<>>;

/// All of a scenario that a training framework can be told: the shape of a decoder (families gpt, llama and moe; of
/// others nothing), batch, precision, and the parallel plan. What the software decides where the scenario does not is
/// said too, as `usual`. Sizes of the plan are always said, other keys where they are not at their default.
Words words_of(const schedules::Scenario& scenario);

/// The text of a word; "" where there is none.
std::string text_of(const Words& words, std::string_view key);

/// The same as a whole number from `least` to 10^9. Throws InputError where it is none, and where there is no such
/// word.
std::int64_t whole_of(const Words& words, std::string_view key, std::int64_t least = 1);

/// All of them multiplied. Throws InputError past 10^15.
std::int64_t product(std::initializer_list<std::int64_t> sizes);

/// Takes a word away and returns its text; "" where there is none.
std::string take(Words& words, std::string_view key);

/// Adds a word that follows from `source`, which says where it was read; "": of a scenario.
void say(Words& words, std::string_view key, std::string text, std::string_view source = {});

/// "[q_proj, v_proj]" of names with blanks, commas, quotes or brackets around them.
std::string list_of_names(std::string_view names);

/// Throws InputError at the place of a word: its key, what was found there, and what is expected.
[[noreturn]] void refuse(const Words& words, std::string_view key, const std::string& expected);

/// Throws InputError where both words are said, and neither says "false": the framework takes one of them.
void refuse_both(const Words& words, std::string_view one, std::string_view other);

/// The same for training.optimizer, of a framework that has Adam and SGD, with momentum or without, and no other.
void refuse_rare_optimizers(const Words& words);

}  // namespace stepcast::language
