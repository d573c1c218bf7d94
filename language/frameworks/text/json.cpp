#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/logs/json_text.h"
#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/syntax.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using Json = nlohmann::ordered_json;

std::string json_leaf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  // 5e8 is a whole number to DeepSpeed.
  constexpr double kMost = 1e15;
  if (value.is_number_float() && std::abs(value.get<double>()) < kMost &&
      std::trunc(value.get<double>()) == value.get<double>())
    return std::to_string(static_cast<std::int64_t>(value.get<double>()));
  return value.dump();
}

/// Places of the keys of a text, which come in their order, by their paths.
class KeyPlaces {
 public:
  KeyPlaces(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  /// `byte`: where the key begins, from 1.
  void add(const std::string& path, std::size_t byte) {
    for (; read_ + 1 < byte; ++read_) {
      if (text_[read_] != '\n') continue;
      ++line_;
      line_begins_ = read_ + 1;
    }
    places_.insert_or_assign(path, Place{file_, line_, static_cast<std::uint32_t>(byte - line_begins_)});
  }
  const Place& of(const std::string& path) const { return places_.at(path); }

 private:
  const std::string& file_;
  std::string_view text_;
  std::map<std::string, Place> places_;
  std::size_t read_ = 0, line_begins_ = 0;
  std::uint32_t line_ = 1;
};

void flatten_json(const Json& value, const std::string& path, const KeyPlaces& places, Statements& out) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten_json(inner, join(path, key), places, out);
  } else if (!value.is_null()) {
    out.push_back({.name = path, .text = json_leaf(value), .place = places.of(path)});
  }
}

ReadStatements read_json(std::string_view text, const std::string& file, const ShellStart& start) {
  refuse_start(start, file);
  KeyPlaces places(file, text);
  calibrate::check_json_text(file, text, calibrate::JsonExtras::comments,
                             [&](const std::string& path, std::size_t byte) { places.add(path, byte); });
  const Json whole = Json::parse(text, nullptr, true, /*ignore_comments=*/true);
  if (!whole.is_object()) throw InputError(file, "found no object, expected { \"train_batch_size\": ... }");
  Statements out;
  flatten_json(whole, "", places, out);
  return {std::move(out)};
}

void write_json_section(const FileSection& section, const std::string& indent, std::string& out) {
  for (const FileSection& each : section.inner) {
    const std::string comma = &each == &section.inner.back() ? "" : ",";
    out += indent + Json(each.name).dump() + ": ";
    if (each.statement) {
      const std::string& comment = each.statement->comment;
      out += value_text(each.statement->text) + comma + (comment.empty() ? "" : "  // " + comment) + "\n";
      continue;
    }
    out += "{\n";
    write_json_section(each, indent + "  ", out);
    out += indent + "}" + comma + "\n";
  }
}

std::string write_json(const std::vector<std::string>& heading, const Statements& statements) {
  std::string out = comment_lines(heading, "//") + "{\n";
  write_json_section(sections_of(statements), "  ", out);
  return out + "}\n";
}

}  // namespace

constinit const Syntax json_syntax{read_json, write_json};

}  // namespace stepcast::language
