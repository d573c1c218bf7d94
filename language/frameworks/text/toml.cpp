#include <algorithm>
#include <sstream>
#include <utility>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/syntax.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

Place place_of(const toml::source_region& region, const std::string& file) {
  return {file, region.begin.line, region.begin.column};
}

std::string toml_leaf(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  std::ostringstream out;
  if (const auto* list = node.as_array())
    out << toml::json_formatter{*list, toml::format_flags::none};
  else
    node.visit([&](const auto& value) { out << value; });
  std::string text = out.str();
  std::erase(text, '\n');
  return text;
}

void flatten_toml(const toml::table& table, const std::string& path, const std::string& file, Statements& out) {
  for (const auto& [key, node] : table) {
    const std::string own = join(path, std::string(key.str()));
    if (const auto* inner = node.as_table())
      flatten_toml(*inner, own, file, out);
    else
      out.push_back({.name = own, .text = toml_leaf(node), .place = place_of(node.source(), file)});
  }
}

/// Whether a text is a program of Python, by its first line that says something.
bool is_python(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos || line.starts_with('#')) continue;
    return line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
           line.starts_with("\"\"\"");
  }
  return false;
}

ReadStatements read_toml(std::string_view text, const std::string& file, const ShellStart& start) {
  refuse_start(start, file);
  Statements out;
  try {
    flatten_toml(toml::parse(text, file), "", file, out);
  } catch (const toml::parse_error& error) {
    if (is_python(text))
      throw InputError(file,
                       "found Python, in which torchtitan is configured behind v0.2.2 (config_registry.py); expected "
                       "TOML as v0.2.2 has it, with what the function sets: [model] name and flavor, [training] "
                       "local_batch_size and seq_len, [parallelism], [activation_checkpoint], [compile]");
    throw InputError(language::text(place_of(error.source(), file)),
                     "found no TOML: " + std::string(error.description()));
  }
  return {std::move(out)};
}

void write_toml_section(const FileSection& section, const std::string& path, std::string& out) {
  for (const FileSection& each : section.inner) {
    if (!each.statement) continue;
    const std::string& comment = each.statement->comment;
    out += each.name + " = " + value_text(each.statement->text) + (comment.empty() ? "" : "  # " + comment) + "\n";
  }
  for (const FileSection& each : section.inner) {
    if (each.statement) continue;
    const std::string own = join(path, each.name);
    if (std::ranges::any_of(each.inner, [](const FileSection& inner) { return inner.statement.has_value(); }))
      out += "\n[" + own + "]\n";
    write_toml_section(each, own, out);
  }
}

std::string write_toml(const std::vector<std::string>& heading, const Statements& statements) {
  std::string out = comment_lines(heading, "#");
  write_toml_section(sections_of(statements), "", out);
  return out;
}

}  // namespace

constinit const Syntax toml_syntax{read_toml, write_toml};

}  // namespace stepcast::language
