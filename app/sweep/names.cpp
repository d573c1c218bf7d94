#include "app/sweep/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/report/figure.h"
#include "language/core/convert.h"
#include "language/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Kind = language::Type::Kind;
using Measure = NamedDatum::Measure;
using schedules::Scenario;
using schedules::Unit;

struct NamedSize {
  std::string_view key;
  std::uint32_t (*read)(const Scenario&);
};
constexpr NamedSize kSizes[] = {
    {"parallelism.tensor", [](const Scenario& s) { return s.parallelism.tensor; }},
    {"parallelism.context", [](const Scenario& s) { return s.parallelism.context; }},
    {"parallelism.expert", [](const Scenario& s) { return s.parallelism.expert; }},
    {"parallelism.expert_tensor", [](const Scenario& s) { return s.parallelism.expert_tensor; }},
    {"parallelism.pipeline", [](const Scenario& s) { return s.parallelism.pipeline; }},
    {"parallelism.data", [](const Scenario& s) { return s.parallelism.data; }},
    {"cluster.gpus", [](const Scenario& s) { return s.cluster.gpus; }},
};

NamedDatum named(const language::Type& type) {
  switch (type.kind) {
    case Kind::whole:
    case Kind::number:
      return {NamedDatum::Kind::number, Measure::none};
    case Kind::time:
      return {NamedDatum::Kind::number, Measure::time};
    case Kind::bytes:
      return {NamedDatum::Kind::number, Measure::bytes};
    case Kind::bandwidth:
      return {NamedDatum::Kind::number, Measure::bandwidth};
    case Kind::flop_rate:
      return {NamedDatum::Kind::number, Measure::flop_rate};
    case Kind::power:
    case Kind::duration:
      return {NamedDatum::Kind::number, Measure::none};
    case Kind::flag:
      return {NamedDatum::Kind::flag, Measure::none};
    case Kind::choice:
      return {NamedDatum::Kind::text, Measure::none, type.names()};
    case Kind::text:
    case Kind::block:
    case Kind::list:
      break;
  }
  return {NamedDatum::Kind::text, Measure::none};
}

NamedDatum named(Unit unit) {
  const Measure measure = unit == Unit::seconds            ? Measure::time
                          : unit == Unit::bytes            ? Measure::bytes
                          : unit == Unit::flops_per_second ? Measure::flop_rate
                                                           : Measure::none;
  return {NamedDatum::Kind::number, measure};
}

Datum datum(const language::KeyInfo& key, const std::string& text, const language::Place& place) {
  if (named(key.type).kind == NamedDatum::Kind::text) return text;
  const language::Value value = convert(key.type, language::make_scalar(text, place), std::string(key.path));
  switch (key.type.kind) {
    case Kind::time:
      return to_seconds(value.time);
    case Kind::bytes:
      return static_cast<double>(value.bytes.value);
    case Kind::bandwidth:
      return value.bandwidth.value;
    case Kind::flop_rate:
      return value.flop_rate.value;
    case Kind::power:
      return value.power.value;
    case Kind::duration:
      return value.duration.value;
    case Kind::flag:
      return value.flag;
    default:
      return value.number;
  }
}

Datum datum(const Figure& figure) {
  if (const auto* whole = std::get_if<std::int64_t>(&figure)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&figure)) return *number;
  return {};
}

/// What is written at a path; nullptr: nothing, or no single value.
const language::Node* written_at(const language::Node& root, std::string_view path) {
  const language::Node* node = &root;
  while (!path.empty() && node != nullptr && node->kind == language::Node::Kind::mapping) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    node = node->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return path.empty() && node != nullptr && node->kind == language::Node::Kind::scalar ? node : nullptr;
}

}  // namespace

SweepNames::SweepNames(const SweepGrid& grid, const language::Node& written) : grid_(grid), written_(written) {}

Vocabulary SweepNames::vocabulary() {
  Vocabulary all{[this](const std::string& name) { return find(name); }, {"fits"}};
  for (const SweepAxis& axis : grid_.axes()) all.names.push_back(axis.key);
  for (const NamedSize& size : kSizes) all.names.emplace_back(size.key);
  for (const schedules::ReportedQuantity& quantity : schedules::quantities()) all.names.emplace_back(quantity.key);
  for (const std::string& path : language::all_paths(language::scenario_schema()))
    if (written_at(written_, path) != nullptr) all.names.push_back(path);
  return all;
}

NamedDatum SweepNames::keep(NamedDatum named, From from) {
  named.number = from_.size();
  from_.push_back(std::move(from));
  return named;
}

std::optional<NamedDatum> SweepNames::find(const std::string& name) {
  if (name == "fits") return keep({NamedDatum::Kind::flag, NamedDatum::Measure::none}, Fits{});
  for (const schedules::ReportedQuantity& quantity : schedules::quantities())
    if (quantity.key == name) return keep(named(quantity.unit), &quantity);
  return find_key(name);
}

std::optional<NamedDatum> SweepNames::find_key(const std::string& name) {
  const language::KeyInfo* key = language::find_key(language::scenario_schema(), name);
  if (key == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < grid_.axes().size(); ++i) {
    const SweepAxis& axis = grid_.axes()[i];
    if (axis.key != name) continue;
    OfAxis values{i, {}};
    for (const std::string& value : axis.values) values.values.push_back(datum(*key, value, {"--axis", 0, 0}));
    return keep(named(key->type), std::move(values));
  }
  if (const auto* size = std::ranges::find(kSizes, name, &NamedSize::key); size != std::end(kSizes))
    return keep(named(key->type), size->read);
  for (const SweepAxis& axis : grid_.axes())
    if (name.starts_with(axis.key + ".") || axis.key.starts_with(name + "."))
      throw InputError("--where", "found " + in_quotes(name) + ", which the axis " + axis.key +
                                      " changes, expected that axis, or one of the key itself");
  const language::Node* value = written_at(written_, name);
  if (value == nullptr)
    throw InputError("--where",
                     "found " + in_quotes(name) +
                         ", which neither the scenario nor an axis gives, expected a key that one of them does "
                         "(or --set " +
                         name + "=VALUE)");
  return keep(named(key->type), datum(*key, value->scalar, value->place));
}

SweepNames::Needs SweepNames::needs(const Condition& condition) const {
  Needs needs = Needs::axes;
  for (const std::size_t name : condition.uses()) {
    if (std::holds_alternative<const schedules::ReportedQuantity*>(from_[name]) ||
        std::holds_alternative<Fits>(from_[name]))
      return Needs::answer;
    if (std::holds_alternative<PlanSize>(from_[name])) needs = Needs::scenario;
  }
  return needs;
}

Datum SweepNames::value(std::size_t name, const KnownPoint& point) const {
  const From& from = from_[name];
  if (const auto* axis = std::get_if<OfAxis>(&from)) return axis->values[point.values[axis->axis]];
  if (const auto* written = std::get_if<Datum>(&from)) return *written;
  if (const auto* size = std::get_if<PlanSize>(&from)) {
    if (point.question == nullptr || !point.question->error.empty()) return {};
    return static_cast<double>((*size)(point.question->scenario));
  }
  if (point.answer == nullptr) return {};
  if (const auto* quantity = std::get_if<const schedules::ReportedQuantity*>(&from))
    return datum(figure(**quantity, *point.answer));
  return point.answer->forecast && !point.answer->forecast->out_of_memory;
}

bool SweepNames::holds(const Condition& condition, const KnownPoint& point) const {
  return condition.holds([&](std::size_t name) { return value(name, point); });
}

}  // namespace stepcast::app
