#include "app/diff/side.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/report/plan_json.h"
#include "calibrate/logs/json_text.h"
#include "schedules/results/memory_kinds.h"
#include "schedules/results/time_parts.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using nlohmann::json;
using schedules::TimeSplit;

constexpr double kMostSeconds = 9000;  // of which a double still tells each picosecond

/// A member that has to be there.
const json& member(const json& object, std::string_view key, const std::string& place) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || at == object.end())
    throw InputError(place, "found no " + in_quotes(key) + ", expected a result of stepcast run --format json");
  return *at;
}

Time time_in(const json& object, std::string_view key, const std::string& place) {
  const json& value = member(object, key, place);
  const double seconds = value.is_number() ? value.get<double>() : -1;
  if (!(seconds >= 0 && seconds <= kMostSeconds))
    throw InputError(place, std::string(key) + ": expected seconds, from 0 to 9000");
  return from_seconds(seconds);
}

Bytes bytes_in(const json& object, std::string_view key, const std::string& place) {
  const json& value = member(object, key, place);
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 1e18)
    throw InputError(place, std::string(key) + ": expected whole bytes");
  return {value.get<std::int64_t>()};
}

/// The details of a stage's parts, which have to add up to them.
void read_details(const json& details, const std::string& place, TimeSplit& time) {
  for (const schedules::TimeDetail& detail : schedules::kTimeDetails)
    time.*detail.time = time_in(details, detail.key, place);
  for (const schedules::TimeDetail& detail : schedules::kTimeDetails) {
    Time sum{};
    for (const schedules::TimeDetail& each : schedules::kTimeDetails)
      if (each.part == detail.part) sum += time.*each.time;
    if (sum != time.*detail.part)
      throw InputError(place, std::string(detail.key) + " and its like do not add up to their part of time_s");
  }
}

SideStage stage_of(const json& stage, Time step, bool& detailed, const std::string& file) {
  const json& number = member(stage, "stage", file);
  if (!number.is_number_unsigned()) throw InputError(file, "stage: expected a whole number");
  SideStage out;
  out.stage = number.get<std::uint32_t>();
  const std::string place = file + ": stage " + std::to_string(out.stage);
  const json& parts = member(stage, "time_s", place);
  for (const schedules::TimePart& part : schedules::kTimeParts) out.time.*part.time = time_in(parts, part.key, place);
  if (out.time.sum() != step) throw InputError(place, "the parts of time_s do not add up to step_time_s");
  detailed = detailed && stage.contains("time_details_s");
  if (detailed) read_details(stage["time_details_s"], place, out.time);
  const json& memory = member(stage, "memory_bytes", place);
  out.memory.emplace();
  for (const schedules::MemoryKind& kind : schedules::kMemoryKinds)
    *out.memory.*kind.on_gpu = bytes_in(memory, kind.key, place);
  return out;
}

/// The result of that name, or the only one.
const json& result_of(const json& results, const std::string& file, const std::string& name) {
  if (!results.is_array() || results.empty()) throw InputError(file, "found no results, expected some");
  if (name.empty() && results.size() > 1)
    throw InputError(file,
                     "found " + std::to_string(results.size()) + " results, expected --row-a or --row-b to name one");
  for (const json& each : results) {
    const json& own = member(each, "name", file);
    if (name.empty() || (own.is_string() && own.get<std::string>() == name)) return each;
  }
  throw InputError(file, "found no result of the name " + in_quotes(name));
}

}  // namespace

DiffSide side_of_forecast(const Answer& answer) {
  const schedules::Forecast& f = *answer.forecast;
  DiffSide side{.name = answer.question.name, .file = answer.question.origin, .step = f.step, .stages = {}};
  side.fits = !f.out_of_memory;
  side.plan = simulated_plan(answer.question);
  for (const schedules::StageReport& stage : f.stages) {
    if (stage.time.sum() != f.step) throw std::logic_error("a stage's parts do not add up to the step");
    side.stages.push_back({stage.stage, stage.time, {}, {}, stage.memory});
  }
  return side;
}

DiffSide side_of_result(const std::string& text, const std::string& file, const std::string& name) {
  calibrate::check_json_text(file, text);
  const json document = json::parse(text);
  const json& result = result_of(member(document, "results", file), file, name);
  DiffSide side{.name = name, .file = file, .step = {}, .stages = {}};
  if (const json& own = member(result, "name", file); own.is_string()) side.name = own.get<std::string>();
  if (!result.contains("stages"))
    throw InputError(file, "the result " + in_quotes(side.name) + " was not simulated, expected a step time");
  side.step = time_in(result, "step_time_s", file);
  const json& stages = member(result, "stages", file);
  if (!stages.is_array() || stages.empty()) throw InputError(file, "stages: expected some");
  for (const json& stage : stages) side.stages.push_back(stage_of(stage, side.step, side.detailed, file));
  side.plan = read_plan(result);
  side.fits = !result.contains("out_of_memory") || result["out_of_memory"].is_null();
  return side;
}

namespace {

/// The parts that a collective of a trace may belong to in a plan.
std::vector<Time TimeSplit::*> candidates(const calibrate::TracedCollective& seen, const schedules::Parallelism& plan) {
  using collectives::Operation;
  std::vector<Time TimeSplit::*> all;
  const auto may = [&](std::uint32_t ranks, Time TimeSplit::*part) {
    if (ranks > 1 && (seen.ranks == 0 || seen.ranks == ranks)) all.push_back(part);
  };
  if (seen.operation == Operation::send_recv || seen.operation == Operation::all_to_all) {
    if (seen.operation == Operation::send_recv && plan.pipeline > 1) all.push_back(&TimeSplit::exposed_pipeline);
    may(plan.expert, &TimeSplit::among_experts);
    may(plan.context, &TimeSplit::among_context);
    return all;
  }
  const bool gathers = seen.operation == Operation::all_gather || seen.operation == Operation::broadcast;
  may(plan.tensor, &TimeSplit::among_tensor);
  may(weight_copies(plan), gathers ? &TimeSplit::parameters : &TimeSplit::gradients);
  if (seen.operation == Operation::all_gather) may(plan.context, &TimeSplit::among_context);
  return all;
}

}  // namespace

DiffSide side_of_trace(calibrate::StepTrace trace, const std::string& file, const schedules::Scenario* beside) {
  using calibrate::TracePart;
  DiffSide side{.name = trace.name.empty() ? "all of the trace" : trace.name,
                .file = file,
                .step = trace.length,
                .stages = {SideStage{}}};
  SideStage& stage = side.stages.front();
  TimeSplit& time = stage.time;
  time.multiplies = trace.part(TracePart::multiplies);
  time.attention = trace.part(TracePart::attention);
  time.memory_bound = trace.part(TracePart::memory_bound);
  time.compute = time.multiplies + time.attention + time.memory_bound;
  time.optimizer = trace.part(TracePart::optimizer);
  time.offload = trace.part(TracePart::copy);
  time.host = trace.part(TracePart::host);
  time.idle = trace.part(TracePart::idle);
  stage.unclassed = trace.part(TracePart::unclassed);
  for (const calibrate::TracedCollective& seen : trace.collectives) {
    const auto parts = beside != nullptr ? candidates(seen, beside->parallelism) : std::vector<Time TimeSplit::*>{};
    (parts.size() == 1 ? time.*parts.front() : stage.unassigned) += seen.exposed;
  }
  time.exposed_tensor = time.among_tensor + time.among_context + time.among_experts;
  time.exposed_data = time.gradients + time.parameters;
  if (time.sum() + stage.unclassed + stage.unassigned != trace.length)
    throw std::logic_error("a trace's parts do not add up to its step");
  side.trace = std::move(trace);
  return side;
}

}  // namespace stepcast::app
