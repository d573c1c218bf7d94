#include "app/report/plan_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "language/plan_keys.h"

namespace stepcast::app {
namespace {

/// The value of one key; nothing: no value of a plan.
std::optional<PlanPart> part_of(std::string_view key, const nlohmann::json& value) {
  if (value.is_boolean()) return PlanPart{key, value.get<bool>(), {}};
  if (value.is_number_integer()) return PlanPart{key, value.get<std::int64_t>(), {}};
  if (value.is_string()) return PlanPart{key, value.get<std::string>(), {}};
  return {};
}

}  // namespace

void put_plan(nlohmann::ordered_json& out, const std::vector<PlanPart>& plan) {
  nlohmann::ordered_json keys = nlohmann::ordered_json::object(), by_default = nlohmann::ordered_json::array();
  for (const PlanPart& part : plan) {
    std::visit([&](const auto& value) { keys[std::string(part.key)] = value; }, part.value);
    if (part.by_default) by_default.push_back(part.key);
  }
  out["plan"] = std::move(keys);
  out["plan_by_default"] = std::move(by_default);
}

std::vector<PlanPart> read_plan(const nlohmann::json& object) {
  const auto plan = object.find("plan"), by_default = object.find("plan_by_default");
  if (plan == object.end() || !plan->is_object()) return {};
  std::vector<PlanPart> parts;
  const auto read = [&](std::string_view key) {
    const auto value = plan->find(key);
    std::optional<PlanPart> part = value != plan->end() ? part_of(key, *value) : std::nullopt;
    if (!part) return;
    part->by_default = by_default != object.end() && by_default->is_array() &&
                       std::ranges::find(*by_default, nlohmann::json(key)) != by_default->end();
    parts.push_back(std::move(*part));
  };
  for (const std::string_view key : language::kPlanKeys) {
    read(key);
    if (key == "training.micro_batch") read("micro_batches");
  }
  return parts;
}

}  // namespace stepcast::app
