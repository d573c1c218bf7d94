#include "app/report/json.h"

#include <nlohmann/json.hpp>

#include "app/report/band.h"
#include "app/report/figure.h"
#include "app/report/json_text.h"
#include "app/report/plan_json.h"
#include "app/report/simulated_plan.h"
#include "schedules/plan/out_of_memory.h"
#include "schedules/results/memory_kinds.h"
#include "schedules/results/time_parts.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using schedules::Forecast;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json(const Figure& figure) {
  if (const auto* whole = std::get_if<std::int64_t>(&figure)) return *whole;
  if (const auto* number = std::get_if<double>(&figure)) return *number;
  return nullptr;
}

/// A quantity under its key; one inside an object, as "fusion.bytes_saved", makes the object, or null where it is
/// absent.
void put(Json& out, const schedules::ReportedQuantity& quantity, const Answer& answer) {
  const Json value = json(figure(quantity, answer));
  const std::size_t dot = quantity.key.find('.');
  Json& place = out[std::string(quantity.key.substr(0, dot))];
  if (dot == std::string_view::npos)
    place = value;
  else if (!value.is_null())
    place[std::string(quantity.key.substr(dot + 1))] = value;
}

Json time_split(const schedules::TimeSplit& time) {
  Json out = Json::object();
  for (const schedules::TimePart& part : schedules::kTimeParts)
    out[std::string(part.key)] = to_seconds(time.*part.time);
  return out;
}

Json time_details(const schedules::TimeSplit& time) {
  Json out = Json::object();
  for (const schedules::TimeDetail& detail : schedules::kTimeDetails)
    out[std::string(detail.key)] = to_seconds(time.*detail.time);
  return out;
}

Json memory_use(const schedules::MemoryUse& memory) {
  Json out = Json::object();
  for (const schedules::MemoryKind& kind : schedules::kMemoryKinds)
    out[std::string(kind.key)] = (memory.*kind.on_gpu).value;
  out["peak"] = memory.peak().value;
  out["host"] = memory.host.sum().value;
  out["nvme"] = memory.nvme.sum().value;
  return out;
}

Json node_memory(const std::optional<schedules::NodeMemory>& m) {
  if (!m) return nullptr;
  return {{"used_bytes", m->used.value}, {"size_bytes", m->size ? Json(m->size->value) : Json(nullptr)}};
}

Json out_of_memory(const std::optional<schedules::OutOfMemory>& over) {
  if (!over) return nullptr;
  Json out{{"stage", over->stage},
           {"memory", name(over->memory)},
           {"needed_bytes", over->needed.value},
           {"available_bytes", over->available.value},
           {"largest", schedules::largest_in_words(*over)},
           {"advice", over->advised ? Json(advice_text(*over)) : Json(nullptr)}};
  Json& tried = out["tried"] = Json::array();
  for (const schedules::Advice& each : over->advice)
    tried.push_back({{"set", each.settings}, {"missing_bytes", each.missing.value}});
  return out;
}

Json result(const Answer& answer) {
  Json out{{"name", answer.question.name}};
  for (const schedules::ReportedQuantity& quantity : schedules::quantities())
    if (quantity.places.failures) put(out, quantity, answer);
  if (!answer.forecast) {
    out["error"] = answer.question.error;
    return out;
  }
  const Forecast& f = *answer.forecast;
  put_plan(out, simulated_plan(answer.question));
  out["error"] = f.out_of_memory ? Json(memory_message(*f.out_of_memory)) : Json(nullptr);
  if (!f.simulated) {
    out["out_of_memory"] = out_of_memory(f.out_of_memory);
    return out;
  }
  const std::optional<Time>& measured = answer.question.scenario.measured.step_time;
  out["measured_s"] = measured ? Json(to_seconds(*measured)) : Json(nullptr);
  const std::optional<calibrate::Band>& band = answer.band;
  out["low_s"] = band ? Json(to_seconds(band->low)) : Json(nullptr);
  out["high_s"] = band ? Json(to_seconds(band->high)) : Json(nullptr);
  out["in_range"] = band ? Json(band->in_range) : Json(nullptr);
  out["out_of_range"] = band ? Json(band->out_of_range) : Json::array();
  out["band"] = band ? Json(band_basis(*band)) : Json(nullptr);
  for (const schedules::ReportedQuantity& quantity : schedules::quantities())
    if (!quantity.places.failures) put(out, quantity, answer);
  Json& shares = out["shares"] = Json::array();
  for (const auto& share : f.shares)
    shares.push_back({{"gpu", share.gpu},
                      {"gpus", share.gpus},
                      {"micro_batch", share.micro_batch},
                      {"peak_memory_bytes", share.peak.value}});
  out["busiest_link"] = nullptr;
  if (f.busiest_link)
    out["busiest_link"] = {{"name", f.busiest_link->name}, {"utilisation", f.busiest_link->utilisation}};
  out["out_of_memory"] = out_of_memory(f.out_of_memory);
  out["host_memory"] = node_memory(f.host_memory);
  out["drives"] = node_memory(f.drives);
  out["transport"] = answer.question.scenario.cluster.gpus > 1 ? Json(answer.question.scenario.software.transport_stack)
                                                               : Json(nullptr);
  Json& notes = out["notes"] = Json::array();
  for (const auto& note : answer.question.notes) notes.push_back({{"key", note.key}, {"text", note.text}});
  Json& stages = out["stages"] = Json::array();
  for (const auto& stage : f.stages)
    stages.push_back({{"stage", stage.stage},
                      {"layers", stage.layers},
                      {"in_flight", stage.in_flight},
                      {"time_s", time_split(stage.time)},
                      {"time_details_s", time_details(stage.time)},
                      {"memory_bytes", memory_use(stage.memory)}});
  return out;
}

void put_summary(Json& out, const ComparedTable& t) {
  out["mape"] = or_null(t.mape);
  out["median_error"] = or_null(t.median_error);
  out["rank_correlation"] = or_null(t.rank_correlation);
  out["in_band"] = or_null(t.covered);
  out["in_band_as_new_table"] = or_null(t.covered_new_table);
  out["failed_found"] = or_null(t.failed_found);
  out["ran_refused"] = or_null(t.ran_refused);
  out["regret"] = t.regret ? Json(t.regret->first) : Json(nullptr);
  out["regret_best_of_five"] = t.regret ? Json(t.regret->best_of_five) : Json(nullptr);
}

}  // namespace

std::string run_json(std::span<const Answer> answers) {
  Json results = Json::array();
  for (const Answer& answer : answers) results.push_back(result(answer));
  return json_text({{"results", std::move(results)}});
}

std::string validate_json(const Comparison& comparison) {
  Json rows = Json::array(), tables = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    const language::Question& q = row.answer->question;
    const std::optional<calibrate::Band>& band = row.answer->band;
    Json phases = Json::object();
    for (const auto& [name, phase] : row.phases)
      phases[name] = {{"measured_s", phase.measured_s}, {"predicted_s", phase.predicted_s}, {"error", phase.error()}};
    rows.push_back({{"name", q.name},
                    {"source", q.source},
                    {"table", q.table},
                    {"measured_s", or_null(row.measured_s)},
                    {"predicted_s", or_null(row.predicted_s)},
                    {"error", or_null(row.error)},
                    {"measured_bytes", or_null(row.measured_bytes)},
                    {"predicted_bytes", or_null(row.predicted_bytes)},
                    {"measured_outcome", outcome_text(row)},
                    {"fits", or_null(row.fits)},
                    {"low_s", band ? Json(to_seconds(band->low)) : Json(nullptr)},
                    {"high_s", band ? Json(to_seconds(band->high)) : Json(nullptr)},
                    {"in_range", band ? Json(band->in_range) : Json(nullptr)},
                    {"out_of_range", band ? Json(band->out_of_range) : Json::array()},
                    {"phases", std::move(phases)},
                    {"why", row.why.empty() ? Json(nullptr) : Json(row.why)}});
  }
  for (const ComparedTable& t : comparison.tables) {
    Json table{{"table", t.table}, {"rows", t.rows}};
    put_summary(table, t);
    table["memory_mape"] = or_null(t.memory_mape);
    table["null_mape"] = or_null(t.null_mape);
    tables.push_back(std::move(table));
  }
  Json out{{"rows", std::move(rows)}, {"tables", std::move(tables)}};
  put_summary(out, comparison.all);
  return json_text(out);
}

}  // namespace stepcast::app
