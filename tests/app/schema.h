#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"

namespace stepcast::app {

/// What a command's JSON follows, by its name in docs/results.schema.json.
inline nlohmann::json results_schema(const std::string& name) {
  return nlohmann::json::parse(read_text(STEPCAST_SOURCE_DIR "/docs/results.schema.json"))["$defs"][name];
}

/// Every key that the schema requires of an object is there and of its type.
inline void expect_schema(const nlohmann::json& schema, const nlohmann::json& value, const std::string& path) {
  if (value.is_object() && schema.contains("required")) {
    for (const std::string key : schema["required"]) EXPECT_TRUE(value.contains(key)) << path << "." << key;
  }
  if (schema.contains("properties"))
    for (const auto& [key, inner] : schema["properties"].items())
      if (value.contains(key)) expect_schema(inner, value[key], path + "." + key);
  if (schema.contains("additionalProperties") && schema["additionalProperties"] == false) {
    for (const auto& [key, inner] : value.items())
      EXPECT_TRUE(schema["properties"].contains(key)) << path << "." << key;
  }
  if (schema.contains("items"))
    for (const nlohmann::json& each : value) expect_schema(schema["items"], each, path + "[]");
  if (schema.contains("type")) {
    const auto is = [&](const std::string& type) {
      return type == "null"      ? value.is_null()
             : type == "number"  ? value.is_number()
             : type == "integer" ? value.is_number_integer()
             : type == "boolean" ? value.is_boolean()
             : type == "string"  ? value.is_string()
             : type == "array"   ? value.is_array()
                                 : value.is_object();
    };
    const nlohmann::json& types = schema["type"];
    const bool any =
        types.is_array() ? std::ranges::any_of(types, [&](const nlohmann::json& t) { return is(t); }) : is(types);
    EXPECT_TRUE(any) << path << " is " << value.type_name();
  }
}

}  // namespace stepcast::app
