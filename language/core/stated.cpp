#include "language/core/stated.h"

#include <map>
#include <sstream>

#include "language/core/file_text.h"

namespace stepcast::language {
namespace {

/// Lines of files, each read once.
class FileLines {
 public:
  /// The comment that begins behind a value, and goes on in lines of nothing but a comment in the same column.
  std::string comment_behind(const Place& place, const std::string& value) {
    if (place.line == 0) return {};
    const std::vector<std::string>& lines = of(place.file);
    if (place.line > lines.size()) return {};
    const std::size_t end = std::min<std::size_t>(place.column - 1 + value.size(), lines[place.line - 1].size());
    const std::size_t start = lines[place.line - 1].find(" #", end);
    if (start == std::string::npos) return {};
    std::string comment = words(lines[place.line - 1], start + 1);
    for (std::size_t line = place.line; line < lines.size(); ++line) {
      if (lines[line].find_first_not_of(' ') != start + 1 || lines[line][start + 1] != '#') break;
      comment += ' ' + words(lines[line], start + 1);
    }
    return comment;
  }

 private:
  const std::vector<std::string>& of(const std::string& file) {
    const auto [known, fresh] = files_.try_emplace(file);
    if (fresh) {
      std::istringstream text(read_file(file, file));
      for (std::string line; std::getline(text, line);) known->second.push_back(line);
    }
    return known->second;
  }

  static std::string words(const std::string& line, std::size_t hash) {
    const std::size_t first = line.find_first_not_of("# ", hash), last = line.find_last_not_of(" \r");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }

  std::map<std::string, std::vector<std::string>> files_;
};

void add(const Node& node, const std::string& path, FileLines& lines, std::vector<Stated>& all) {
  switch (node.kind) {
    case Node::Kind::mapping:
      for (const Entry& entry : node.entries) add(entry.value, join(path, entry.key), lines, all);
      return;
    case Node::Kind::list:
      for (std::size_t i = 0; i < node.items.size(); ++i)
        all.push_back({path + '[' + std::to_string(i) + ']', on_one_line(node.items[i]), node.items[i].place, {}});
      return;
    case Node::Kind::scalar:
      all.push_back({path, node.scalar, node.place, lines.comment_behind(node.place, node.scalar)});
      return;
    case Node::Kind::nothing:
      return;
  }
}

}  // namespace

std::vector<Stated> stated(const Node& block) {
  FileLines lines;
  std::vector<Stated> all;
  add(block, "", lines, all);
  return all;
}

std::string on_one_line(const Node& node) {
  std::string out;
  const auto separate = [&] { out += out.empty() ? "" : ", "; };
  switch (node.kind) {
    case Node::Kind::mapping:
      for (const Entry& entry : node.entries) {
        separate();
        out += entry.key + ": " + on_one_line(entry.value);
      }
      return "{" + out + "}";
    case Node::Kind::list:
      for (const Node& item : node.items) {
        separate();
        out += on_one_line(item);
      }
      return "[" + out + "]";
    case Node::Kind::scalar:
      return node.scalar;
    case Node::Kind::nothing:
      break;
  }
  return "null";
}

}  // namespace stepcast::language
