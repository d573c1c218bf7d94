// docs/results.schema.json: what it says of quantities, parts of a stage's time and kinds of memory is written from
// their tables, as a golden file is.

#include <gtest/gtest.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>

#include "schedules/results/memory_kinds.h"
#include "schedules/results/quantities.h"
#include "schedules/results/time_parts.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using OrderedJson = nlohmann::ordered_json;
using schedules::ReportedQuantity;

const std::string kSchema = STEPCAST_SOURCE_DIR "/docs/results.schema.json";
constexpr std::size_t kWidth = 120;

std::string one_line(const OrderedJson& value) {
  if (!value.is_structured()) return value.dump();
  std::string out;
  for (const auto& [key, inner] : value.items())
    out += (out.empty() ? "" : ", ") + (value.is_object() ? OrderedJson(key).dump() + ": " : "") + one_line(inner);
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

/// What fits into a line in one, and lists of words; `before` and `after` stand on its first and last line.
std::string pretty(const OrderedJson& value, std::size_t indent, const std::string& before, const std::string& after) {
  const std::string whole = std::string(indent, ' ') + before + one_line(value) + after + "\n";
  const bool has_blocks = value.is_object() || (value.is_array() && !value.empty() && value.front().is_structured());
  if (!has_blocks || whole.size() <= kWidth + 1) return whole;
  std::string out = std::string(indent, ' ') + before + (value.is_object() ? "{\n" : "[\n");
  std::size_t left = value.size();
  for (const auto& [key, inner] : value.items())
    out += pretty(inner, indent + 2, value.is_object() ? OrderedJson(key).dump() + ": " : "", --left > 0 ? "," : "");
  return out + std::string(indent, ' ') + (value.is_object() ? "}" : "]") + after + "\n";
}

template <class T>
struct Bare {
  static constexpr const char* kType = std::integral<T> || std::same_as<T, Bytes> ? "integer" : "number";
  static constexpr bool kMayBeAbsent = false;
};
template <class T>
struct Bare<std::optional<T>> : Bare<T> {
  static constexpr bool kMayBeAbsent = true;
};
template <class T>
Bare<T> bare(T schedules::Forecast::*);
template <class T, class From>
Bare<T> bare(T (*)(const From&));

/// A quantity of its own may be null; one inside an object is there where the object is.
OrderedJson type_of(const ReportedQuantity& quantity, bool inside) {
  return std::visit(
      [&](const auto& how) -> OrderedJson {
        using Value = decltype(bare(how));
        if (inside || !(Value::kMayBeAbsent || quantity.places.failures)) return Value::kType;
        return {Value::kType, "null"};
      },
      quantity.read);
}

void put(OrderedJson& properties, const ReportedQuantity& quantity) {
  const std::size_t dot = quantity.key.find('.');
  const std::string null = quantity.absent.empty() ? "" : "null: " + std::string(quantity.absent);
  const std::string title(quantity.title);
  OrderedJson& own = properties[std::string(quantity.key.substr(0, dot))];
  if (dot == std::string_view::npos) {
    own = {{"type", type_of(quantity, false)}, {"description", title + (null.empty() ? "" : "; ") + null}};
    return;
  }
  if (!null.empty())  // the first of the object's
    own = {{"type", {"object", "null"}},
           {"description", null},
           {"additionalProperties", false},
           {"properties", OrderedJson::object()}};
  own["properties"][std::string(quantity.key.substr(dot + 1))] = {{"type", type_of(quantity, true)},
                                                                  {"description", title}};
}

/// An object with exactly these members, all of one type.
OrderedJson object_of(const std::vector<std::string>& keys, const std::string& type, const std::string& description) {
  OrderedJson properties = OrderedJson::object();
  for (const std::string& key : keys) properties[key] = {{"type", type}};
  return {{"type", "object"},
          {"required", keys},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"description", description}};
}

OrderedJson& properties_of_a_result(OrderedJson& schema) {
  return schema["$defs"]["run"]["properties"]["results"]["items"]["properties"];
}

TEST(ResultsSchema, IsWrittenFromTheTables) {
  OrderedJson schema = OrderedJson::parse(read_text(kSchema));
  OrderedJson& result = properties_of_a_result(schema);
  for (const ReportedQuantity& quantity : schedules::quantities()) put(result, quantity);
  std::vector<std::string> parts, details, kinds;
  for (const schedules::TimePart& part : schedules::kTimeParts) parts.emplace_back(part.key);
  for (const schedules::TimeDetail& detail : schedules::kTimeDetails) details.emplace_back(detail.key);
  for (const schedules::MemoryKind& kind : schedules::kMemoryKinds) kinds.emplace_back(kind.key);
  for (const char* sum : {"peak", "host", "nvme"}) kinds.emplace_back(sum);
  OrderedJson& stage = result["stages"]["items"]["properties"];
  stage["time_s"] = object_of(parts, "number", "the parts add up to step_time_s");
  stage["time_details_s"] = object_of(details, "number", "what parts of time_s are made of; those of one add up to it");
  stage["memory_bytes"] = object_of(kinds, "integer", "of one GPU; host and nvme: offloaded, not part of the peak");
  OrderedJson& found = schema["$defs"]["search"]["properties"]["plans"]["items"]["properties"];
  found["shares"] = object_of(parts, "number", "of the step, mean over the stages; they add up to 1");
  OrderedJson& path = schema["$defs"]["sensitivity"]["properties"]["critical_path"];
  path = object_of(parts, "number", "shares of the step, which add up to 1; null: the step has no one begin and end");
  path["type"] = {"object", "null"};
  expect_golden(kSchema, pretty(schema, 0, "", ""));
}

TEST(ResultsSchema, NamesWhatAResultHasAndNothingElse) {
  OrderedJson schema = OrderedJson::parse(read_text(kSchema));
  std::set<std::string> named, there;
  for (const auto& [key, property] : properties_of_a_result(schema).items()) named.insert(key);
  const OrderedJson result =
      OrderedJson::parse(run_program("run scenarios/quickstart.yaml --format json").out)["results"][0];
  for (const auto& [key, value] : result.items()) there.insert(key);
  EXPECT_EQ(named, there);
}

}  // namespace
}  // namespace stepcast::app
