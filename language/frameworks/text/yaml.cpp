#include "language/core/yaml.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "language/core/stated.h"
#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/syntax.h"

namespace stepcast::language {
namespace {

void flatten_yaml(const Node& node, const std::string& path, Statements& out) {
  if (node.kind == Node::Kind::mapping) {
    for (const Entry& entry : node.entries) flatten_yaml(entry.value, join(path, entry.key), out);
    return;
  }
  if (node.kind == Node::Kind::nothing || (node.kind == Node::Kind::scalar && node.scalar == "null")) return;
  out.push_back(
      {.name = path, .text = node.kind == Node::Kind::scalar ? node.scalar : on_one_line(node), .place = node.place});
}

ReadStatements read_yaml(std::string_view text, const std::string& file, const ShellStart& start) {
  refuse_start(start, file);
  Statements out;
  flatten_yaml(parse_yaml(text, file), "", out);
  return {std::move(out)};
}

void write_yaml_section(const FileSection& section, const std::string& indent, std::string& out) {
  for (const FileSection& each : section.inner) {
    out += indent + each.name + ":";
    if (!each.statement) {
      out += "\n";
      write_yaml_section(each, indent + "  ", out);
      continue;
    }
    const std::string& comment = each.statement->comment;
    out += " " + value_text(each.statement->text) + (comment.empty() ? "" : "  # " + comment) + "\n";
  }
}

std::string write_yaml(const std::vector<std::string>& heading, const Statements& statements) {
  std::string out = comment_lines(heading, "#");
  write_yaml_section(sections_of(statements), "", out);
  return out;
}

}  // namespace

constinit const Syntax yaml_syntax{read_yaml, write_yaml};

}  // namespace stepcast::language
