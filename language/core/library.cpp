#include "language/core/library.h"

#include <algorithm>
#include <array>
#include <set>

#include "language/core/file_text.h"
#include "language/core/merge.h"
#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/core/yaml.h"

namespace stepcast::language {
namespace {

constexpr std::array kEndings = {".yaml", ".yml"};
constexpr std::size_t kLongestChain = 32;   // of files that name each other
constexpr std::size_t kMostIncludes = 100;  // of one mapping

bool is_json(const Schema& schema, const std::filesystem::path& file) {
  return schema.json.has_value() && file.extension() == ".json";
}

bool is_path(const Node& name, const Schema& schema) {
  const std::string& word = name.scalar;
  return word.find('/') != std::string::npos || is_json(schema, word) ||
         std::ranges::any_of(kEndings, [&](auto ending) { return word.ends_with(ending); }) ||
         (word == "-" && name.place.line == 0);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// With the ending that is there; .yaml where neither is.
std::filesystem::path with_ending(const std::filesystem::path& file) {
  std::error_code error;
  for (const char* const ending : kEndings)
    if (const std::filesystem::path whole = file.string() + ending; std::filesystem::exists(whole, error)) return whole;
  return file.string() + kEndings.front();
}

/// How a complaint about a name that is not there ends: the nearest name and how to see all, or all of them where none
/// is near.
std::string meant(const std::string& name, const std::vector<std::string>& known, std::string_view folder) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  if (const std::string near = did_you_mean(name, views); !near.empty())
    return near + " ('stepcast list " + std::string(folder) + "' names all)";
  return known.empty() ? " (it holds none), or a file of yours by its path, such as ./mine.yaml"
                       : ": " + one_of("", views, views.size());
}

}  // namespace

Node Library::scenario(const std::filesystem::path& file, const Schema& schema) {
  return load(file, make_scalar(file.string(), {shown_path(file), 0, 0}), schema, "");
}

Node Library::scenario(const std::filesystem::path& file, std::string_view text, const Schema& schema) {
  const std::string shown = shown_path(file);
  read_.push_back(file);
  return expand(parse_yaml(text, shown), schema, "");
}

std::vector<std::filesystem::path> Library::files() const { return read_; }

Node Library::expand_block(const Node& node, const Schema& schema, const std::string& path) {
  if (node.kind == Node::Kind::scalar) return named(node, schema, path);
  if (node.kind == Node::Kind::mapping) return expand(node, schema, path);
  fail(node.place, path,
       "found " + found(node) + ", expected a file of configs/" + std::string(schema.folder) +
           "/ by its name, or a mapping");
}

std::vector<std::string> Library::names(std::string_view folder) const {
  std::set<std::string> found;
  for (const std::filesystem::path& configs : folders_) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(configs / folder, error)) {
      if (std::ranges::find(kEndings, entry.path().extension()) != kEndings.end() && entry.is_regular_file(error))
        found.insert(entry.path().stem().string());
    }
  }
  return {found.begin(), found.end()};
}

std::optional<std::filesystem::path> Library::file(std::string_view folder, const std::string& name,
                                                   const std::string& except) const {
  const auto [known, fresh] = looked_up_.try_emplace({std::string(folder), name, except});
  if (!fresh) return known->second;
  for (const std::filesystem::path& configs : folders_) {
    std::filesystem::path file = with_ending(configs / folder / name);
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && shown_path(file) != except) {
      known->second = file;
      break;
    }
  }
  return known->second;
}

Node Library::expand(const Node& mapping, const Schema& schema, const std::string& path) {
  Node whole = make_mapping(mapping.place);
  if (const Node* include = mapping.find("include")) {
    const std::string key = join(path, "include");
    std::vector<Node> files = include->items;
    if (include->kind == Node::Kind::scalar) files = {*include};
    if (files.empty()) fail(include->place, key, "found " + found(*include) + ", expected a file or a list of files");
    if (files.size() > kMostIncludes) {
      fail(include->place, key, "found " + std::to_string(files.size()) + " files, expected at most 100");
    }
    for (const Node& file : files) {
      if (file.kind != Node::Kind::scalar) fail(file.place, key, "found " + found(file) + ", expected a file");
      merge(schema, whole, load(beside(file.place, file.scalar), file, schema, key));
    }
  }
  if (const Node* base = mapping.find("base")) {
    const std::string key = join(path, "base");
    if (base->kind != Node::Kind::scalar) fail(base->place, key, "found " + found(*base) + ", expected a file");
    merge(schema, whole, named(*base, schema, key));
  }
  Node own = mapping;
  std::erase_if(own.entries, [](const Entry& entry) { return entry.key == "base" || entry.key == "include"; });
  merge(schema, whole, own);
  return whole;
}

Node Library::named(const Node& name, const Schema& schema, const std::string& path) {
  if (schema.foreign != nullptr) {
    if (std::optional<Node> block = schema.foreign(name)) return *std::move(block);
  }
  if (schema.folder.empty()) {
    std::filesystem::path file = beside(name.place, name.scalar);
    if (!file.has_extension() && !is_stream(file) && !is_folder(file)) file = with_ending(file);
    return load(file, name, schema, path);
  }
  if (is_path(name, schema)) return load(beside(name.place, name.scalar), name, schema, path);
  std::optional<std::filesystem::path> meant_file = file(schema.folder, name.scalar, name.place.file);
  if (!meant_file) meant_file = file(schema.folder, name.scalar);  // it names itself and lies over none: a circle
  if (!meant_file) {
    fail(name.place, path,
         "found " + found(name) + ", expected a file of configs/" + std::string(schema.folder) + "/" +
             meant(name.scalar, names(schema.folder), schema.folder));
  }
  return load(*meant_file, name, schema, path);
}

const Node& Library::load(const std::filesystem::path& named, const Node& name, const Schema& schema,
                          const std::string& path) {
  std::error_code error;
  const bool holds_json = schema.json && std::filesystem::exists(named / schema.json->in_folder, error);
  const std::filesystem::path file = holds_json ? named / schema.json->in_folder : named;
  const std::string key = std::string(schema.title) + ' ' + file.string();  // a block's base depends on what it is
  const auto known = files_.find(key);
  if (known != files_.end()) return known->second;
  const std::string shown = shown_path(file);
  const auto start = std::find(chain_.begin(), chain_.end(), shown);
  if (start != chain_.end()) {
    std::string circle;
    for (auto link = start; link != chain_.end(); ++link) circle += *link + " -> ";
    fail(name.place, path, "files name each other in a circle: " + circle + shown);
  }
  if (chain_.size() == kLongestChain) {
    fail(name.place, path,
         "found " + found(name) + " at the end of a chain of 32 files that name each other (from " + chain_.front() +
             "), expected fewer");
  }
  if (!path.empty() && !std::filesystem::exists(file, error)) {
    fail(name.place, path, "found " + found(name) + ", expected a file; there is no " + shown + did_you_mean(file));
  }
  if (!path.empty() && is_folder(file))
    fail(name.place, path,
         "found " + found(name) + ", which is a folder" +
             (schema.json ? " without a " + std::string(schema.json->in_folder) : "") + ", expected a file");
  chain_.push_back(shown);
  read_.push_back(file);
  try {
    const std::string text = read_file(file, shown);
    if (!path.empty() && text.find_first_not_of(" \t\r\n") == std::string::npos)
      fail(name.place, path,
           "found " + found(name) + ", which is empty, expected a file with keys" +
               (schema.folder.empty() ? "" : ", as those of configs/" + std::string(schema.folder) + "/ have"));
    Node tree = is_json(schema, file) ? schema.json->read(text, shown) : expand(parse_yaml(text, shown), schema, "");
    chain_.pop_back();
    return files_.emplace(key, std::move(tree)).first->second;
  } catch (...) {
    chain_.pop_back();
    throw;
  }
}

std::filesystem::path beside(const Place& place, const std::string& name) {
  if (place.line == 0) return input_named(name);
  if (is_stream(place.file)) return name;
  return std::filesystem::path(place.file).parent_path() / name;
}

}  // namespace stepcast::language
