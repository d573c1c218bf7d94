#include "python/dict_tree.h"

#include <algorithm>
#include <optional>
#include <set>

#include "language/core/merge.h"
#include "language/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::python {
namespace {

namespace py = pybind11;
using language::Node;

/// What messages call a scenario that is a dict.
const language::Place kDict{"dict", 0, 0};

/// Deeper than any scenario: what holds itself ends here.
constexpr int kMostDepth = 32;

[[noreturn]] void wrong(const std::string& path, const std::string& what) {
  throw InputError(kDict.file, path.empty() ? what : path + ": " + what);
}

/// Python's own number, flag or list of what numpy or pandas made; all else as it is.
py::object plain(const py::handle& value) {
  if (py::hasattr(value, "tolist")) return value.attr("tolist")();
  return py::reinterpret_borrow<py::object>(value);
}

std::string type_name(const py::handle& value) { return py::str(py::type::handle_of(value).attr("__name__")); }

/// Half of a pair of UTF-16 is a character of Python's texts, but none that a file can hold.
std::string text_of(const py::handle& text) {
  try {
    return text.cast<std::string>();
  } catch (const py::cast_error&) {
    throw InputError(kDict.file,
                     "found the text " + std::string(py::repr(text)) + ", expected one of Unicode characters");
  }
}

/// Of a number, a flag, a text or a path. Nothing: it is none of these.
std::optional<std::string> scalar_text(const py::handle& value) {
  if (py::isinstance<py::str>(value)) return text_of(value);
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::isinstance<py::float_>(value)) return std::string(py::repr(value));
  if (PyIndex_Check(value.ptr()) != 0) return std::string(py::str(value.attr("__index__")()));
  if (py::hasattr(value, "__fspath__")) return text_of(value.attr("__fspath__")());
  return std::nullopt;
}

Node node_of(const py::handle& value, const std::string& path, int depth);

/// Puts a value under a path of keys, each a mapping of the next.
void put(Node& mapping, std::string_view path, Node value, const std::string& whole) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  Node* found = mapping.find(key);
  if (dot == std::string_view::npos) {
    if (found != nullptr) wrong(whole, "found twice, expected once");
    mapping.entries.push_back({key, kDict, std::move(value)});
    return;
  }
  if (found == nullptr)
    found = &mapping.entries.emplace_back(language::Entry{key, kDict, language::make_mapping(kDict)}).value;
  if (found->kind != Node::Kind::mapping) wrong(whole, "found beside " + key + ", which has a value of its own");
  put(*found, path.substr(dot + 1), std::move(value), whole);
}

std::string key_of(const py::handle& key, const std::string& path) {
  if (!py::isinstance<py::str>(key))
    wrong(path, "found the key " + in_quotes(std::string(py::repr(key))) + ", expected a text");
  return text_of(key);
}

Node mapping_of(const py::handle& dict, const std::string& path, int depth) {
  Node mapping = language::make_mapping(kDict);
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(dict)) {
    const std::string key = key_of(name, path), whole = language::join(path, key);
    put(mapping, key, node_of(value, whole, depth + 1), whole);
  }
  return mapping;
}

Node node_of(const py::handle& given, const std::string& path, int depth) {
  if (depth > kMostDepth) wrong(path, "found more than 32 levels, expected fewer");
  const py::object value = plain(given);
  Node node;
  node.place = kDict;
  if (value.is_none()) return node;
  if (py::isinstance<py::dict>(value)) return mapping_of(value, path, depth);
  if (const std::optional<std::string> text = scalar_text(value)) return language::make_scalar(*text, kDict);
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value))
    wrong(path, "found " + type_name(value) + ", expected a text, a number, True, False, None, a list or a dict");
  node.kind = Node::Kind::list;
  for (const py::handle item : value) node.items.push_back(node_of(item, path, depth + 1));
  return node;
}

}  // namespace

Node tree_of(const py::dict& scenario) {
  Node plain = language::make_mapping(kDict), dotted = language::make_mapping(kDict);
  for (const auto& [name, value] : scenario) {
    const std::string key = key_of(name, "");
    const bool has_dot = key.find('.') != std::string::npos;
    Node node = node_of(value, key, 1);
    node.erased = has_dot && value.is_none();
    put(has_dot ? dotted : plain, key, std::move(node), key);
  }
  language::merge(language::scenario_schema(), plain, dotted);
  return plain;
}

std::string setting_text(const py::handle& given, const std::string& key) {
  const py::object value = plain(given);
  if (value.is_none()) return {};
  if (const std::optional<std::string> text = scalar_text(value)) return *text;
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value))
    throw InputError(key, "found " + type_name(value) + ", expected a text, a number or a list");
  std::string list;
  for (const py::handle item : value) list += (list.empty() ? "" : ", ") + setting_text(item, key);
  return "[" + list + "]";
}

}  // namespace stepcast::python
