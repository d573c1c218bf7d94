#include "app/json_schema.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "language/core/convert.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using language::KeyInfo;
using language::Schema;
using language::Type;
using Kind = Type::Kind;

/// "Link of a graph": link-of-a-graph.
std::string definition_name(const Schema& schema) {
  std::string name;
  for (const char c : schema.title) name += c == ' ' || c == '.' ? '-' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return name;
}

Json reference(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

/// A whole number without a fraction behind it.
Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

Json range(const Type& type, const char* name) {
  constexpr double kAsGoodAsOpen = 9e18;
  Json value{{"type", name}};
  if (std::isfinite(type.least)) value[type.above_least ? "exclusiveMinimum" : "minimum"] = number(type.least);
  if (type.most < kAsGoodAsOpen) value["maximum"] = number(type.most);
  return value;
}

/// A quantity: what sim/units_text.h reads.
Json quantity(const Type& type, std::string_view units) {
  std::string either(units);
  for (std::size_t comma = either.find(", "); comma != std::string::npos; comma = either.find(", ", comma))
    either.replace(comma, 2, "|");
  return {{"type", "string"},
          {"pattern", "^[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)? ?(" + either + ")$"},
          {"description", language::expected(type)}};
}

/// Words that YAML takes for flags are flags to a schema.
Json choices(const language::Names& names) {
  Json all = Json::array();
  for (const std::string_view name : names) {
    if (name == "true" || name == "false")
      all.push_back(name == "true");
    else
      all.push_back(name);
  }
  return all;
}

Json text_or_list_of_text() {
  return {{"anyOf", Json::array({{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}})}};
}

/// Of a mapping that starts from no other file, these rules hold.
Json where_it_starts_from_nothing(Json rules) {
  Json nothing{{"type", "object"}};
  nothing["properties"] = {{"base", false}, {"include", false}};
  return {{"if", std::move(nothing)}, {"then", std::move(rules)}};
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const language::Library& library) : library_(library) {}

  Json document(const Schema& root) {
    Json whole{{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", "stepcast: " + std::string(root.title)},
               {"description", "Made by stepcast keys --format json-schema from the tables that read such files."},
               {"allOf", Json::array({mapping(root)})}};
    if (Json rules = complete(root); !rules.empty()) whole["allOf"].push_back(std::move(rules));
    whole["definitions"] = std::move(definitions_);
    return whole;
  }

 private:
  /// The mapping of a block, which may start from other files.
  Json mapping(const Schema& schema) {
    return defined(definition_name(schema), [&] {
      Json object = level(schema, "");
      object["properties"]["base"] = file_name(schema);
      object["properties"]["base"]["description"] = "what to start from";
      object["properties"]["include"] = text_or_list_of_text();
      object["properties"]["include"]["description"] = "files merged underneath";
      if (Json readers = of_each_reader(schema); !readers.empty()) object["allOf"] = std::move(readers);
      return object;
    });
  }

  /// An entry of a list, which starts from nothing.
  Json entry(const Schema& schema) {
    return defined(definition_name(schema), [&] {
      Json object = level(schema, "");
      object.update(required(schema, ""), true);
      return object;
    });
  }

  /// A block where it stands behind a key.
  Json named_or_mapping(const Schema& schema) {
    return defined(definition_name(schema) + "-or-its-name", [&] {
      Json either = file_name(schema)["anyOf"];
      either.push_back(mapping(schema));
      return Json{{"anyOf", std::move(either)}};
    });
  }

  /// The library's names for editors to offer, and any other: files of one's own.
  Json file_name(const Schema& schema) const {
    Json either = Json::array();
    if (const auto names = schema.folder.empty() ? std::vector<std::string>() : library_.names(schema.folder);
        !names.empty())
      either.push_back({{"enum", names}});
    either.push_back({{"type", "string"}});
    return {{"anyOf", std::move(either)}};
  }

  Json level(const Schema& schema, const std::string& inside) {
    Json properties = Json::object();
    for (const std::string_view word : language::words_below(schema, inside)) {
      const std::string path = language::join(inside, word);
      properties[std::string(word)] = property(schema, path);
    }
    return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  }

  Json property(const Schema& schema, const std::string& path) {
    const auto number_of = schema.number_of.find(path);
    if (number_of == schema.number_of.end()) return level(schema, path);
    const KeyInfo& key = schema.keys[number_of->second];
    std::string help(key.help);
    if (key.fallback == language::kRequired)
      help += " (required)";
    else if (!key.fallback.empty())
      help += " (default: " + std::string(key.fallback) + ")";
    Json said{{"description", std::move(help)}};
    Json what = value(key.type);
    if (schema.groups.contains(path))
      said["anyOf"] = Json::array({std::move(what), level(schema, path)});
    else if (what.contains("$ref"))  // beside which draft 7 sees nothing else
      said["allOf"] = Json::array({std::move(what)});
    else
      said.update(what);
    return said;
  }

  Json value(const Type& type) {
    switch (type.kind) {
      case Kind::text:
        return {{"type", Json::array({"string", "number"})}};
      case Kind::whole:
        return range(type, "integer");
      case Kind::number:
        return range(type, "number");
      case Kind::flag:
        return {{"type", "boolean"}};
      case Kind::choice:
        return {{"enum", choices(type.names())}};
      case Kind::time:
        return defined("time", [&] { return quantity(type, time_units()); });
      case Kind::bytes:
        return defined("size", [&] { return quantity(type, bytes_units()); });
      case Kind::bandwidth:
        return defined("bandwidth", [&] { return quantity(type, bandwidth_units()); });
      case Kind::flop_rate:
        return defined("rate", [&] { return quantity(type, flop_rate_units()); });
      case Kind::power:
        return defined("power", [&] { return quantity(type, power_units()); });
      case Kind::duration:
        return defined("duration", [&] { return quantity(type, duration_units()); });
      case Kind::block:
        return named_or_mapping(type.fields());
      case Kind::list:
        return list(type);
    }
    return {};
  }

  Json list(const Type& type) {
    Json all{{"type", "array"}};
    if (type.names != nullptr) all["items"] = {{"enum", choices(type.names())}};
    if (type.fields != nullptr) all["items"] = entry(type.fields());
    return all;
  }

  /// Where a mapping says who reads it, the keys that this one reads.
  static Json of_each_reader(const Schema& schema) {
    Json rules = Json::array();
    if (!schema.reader) return rules;
    const std::string key(schema.reader->key);
    for (const std::string_view value : language::find_key(schema, key)->type.names()) {
      auto reads = language::read_by(schema, value);
      if (!reads) continue;
      reads->insert(reads->end(), {"base", "include"});
      Json rule;
      rule["if"]["properties"][key]["const"] = value;
      rule["if"]["required"] = Json::array({key});
      rule["then"]["propertyNames"]["enum"] = *reads;
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  /// What must be said below `inside`, where nothing else says it.
  Json required(const Schema& schema, const std::string& inside) {
    Json words = Json::array(), properties = Json::object();
    for (const std::string_view word : language::words_below(schema, inside)) {
      const std::string path = language::join(inside, word);
      const auto number_of = schema.number_of.find(path);
      Json below;
      bool here = false;
      if (number_of == schema.number_of.end()) {
        below = required(schema, path);
        here = below.contains("required");
      } else {
        const KeyInfo& key = schema.keys[number_of->second];
        here = key.fallback == language::kRequired;
        if (key.type.kind == Kind::block) below = complete(key.type.fields());
      }
      if (here) words.push_back(word);
      if (!below.empty()) properties[std::string(word)] = std::move(below);
    }
    Json rules = Json::object();
    if (!words.empty()) rules["required"] = std::move(words);
    if (!properties.empty()) rules["properties"] = std::move(properties);
    return rules;
  }

  /// Nothing where nothing must be said.
  Json complete(const Schema& schema) {
    Json rules = required(schema, "");
    if (rules.empty()) return {};
    return defined(definition_name(schema) + "-complete", [&] { return where_it_starts_from_nothing(rules); });
  }

  /// Defines `name`, once, and refers to it.
  template <class Make>
  Json defined(const std::string& name, Make make) {
    if (!definitions_.contains(name)) {
      definitions_[name] = nullptr;  // stands for it where it is inside itself
      definitions_[name] = make();
    }
    return reference(name);
  }

  const language::Library& library_;
  Json definitions_ = Json::object();
};

}  // namespace

Json json_schema(const Schema& root, const language::Library& library) { return SchemaWriter(library).document(root); }

}  // namespace stepcast::app
