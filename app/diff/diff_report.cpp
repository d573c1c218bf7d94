#include "app/diff/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/percent.h"
#include "app/report/plan_json.h"
#include "app/report/stage_lines.h"
#include "app/report/text_table.h"
#include "app/report/time_unit.h"
#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using schedules::PartGroup;
using Align = TextTable::Align;

constexpr std::pair<PartGroup, const char*> kGroups[] = {{PartGroup::compute, "compute"},
                                                         {PartGroup::communication, "communication that nothing hides"},
                                                         {PartGroup::waiting, "waiting"}};
constexpr std::size_t kMostStages = 16, kMostKernels = 10, kLongestName = 60;

std::string number(Time t, const TimeUnit& unit) {
  return t == Time{} ? "-" : fmt::format("{:.3f}", to_seconds(t) / unit.seconds);
}
std::string change(Time t, const TimeUnit& unit) {
  return t == Time{} ? "-" : fmt::format("{:+.3f}", to_seconds(t) / unit.seconds);
}

PartDifference sum_of(const std::vector<PartDifference>& parts, PartGroup group) {
  PartDifference sum;
  for (const PartDifference& part : parts) {
    if (part.group != group) continue;
    sum.a += part.a;
    sum.b += part.b;
  }
  return sum;
}

Time absolute(Time t) { return t < Time{} ? Time{} - t : t; }

std::string head(const DiffSide& a, const DiffSide& b) {
  const auto line = [](const char* which, const DiffSide& side) {
    return fmt::format("  {}  {:.6g} s  {} ({}){}\n", which, to_seconds(side.step), language::visible(side.name),
                       language::visible(side.file), side.fits ? "" : ", which does not fit in memory");
  };
  return line("A", a) + line("B", b) +
         fmt::format("  B - A: {:+.6g} s, {}\n", to_seconds(b.step - a.step), signed_percent(b.step / a.step - 1));
}

std::string diff_stages(const DiffSide& a, const DiffSide& b, const StepDifference& d) {
  if (d.stages.empty()) return {};
  const TimeUnit unit = unit_of(std::max(a.step, b.step));
  TextTable table({{"stage", Align::left}, {"compute"}, {"communication"}, {"waiting"}});
  std::vector<StageCells> cells;
  for (const std::vector<PartDifference>& parts : d.stages) {
    StageCells& one = cells.emplace_back();
    for (const auto& [group, title] : kGroups) {
      const Time t = sum_of(parts, group).difference();
      one.figures.push_back(to_seconds(t));
      one.cells.push_back(change(t, unit));
    }
  }
  for (const StageLine& line : stage_lines(cells, kMostStages)) {
    std::vector<std::string> row{std::to_string(a.stages[line.first].stage)};
    if (line.last > line.first) row[0] += "-" + std::to_string(a.stages[line.last].stage) + (line.differ ? " ~" : "");
    for (const std::string& cell : cells[line.first].cells) row.push_back(cell);
    table.add(std::move(row));
  }
  return fmt::format("\nB - A by stage, {} (~: the first of stages that differ)\n\n", unit.name) + table.text("  ");
}

std::string diff_memory(const StepDifference& d) {
  if (d.memory.empty()) return {};
  const auto gib = [](Bytes n) { return fmt::format("{:.2f}", static_cast<double>(n.value) / (1LL << 30)); };
  TextTable table({{"memory", Align::left}, {"A"}, {"B"}, {"B - A"}});
  MemoryDifference peak{"peak", "peak", {}, {}};
  const auto add = [&](const MemoryDifference& kind) {
    table.add({std::string(kind.title), gib(kind.a), gib(kind.b),
               fmt::format("{:+.2f}", static_cast<double>(kind.difference().value) / (1LL << 30))});
  };
  for (const MemoryDifference& kind : d.memory) {
    add(kind);
    peak.a += kind.a;
    peak.b += kind.b;
  }
  add(peak);
  return "\nMemory of the fullest GPU of each, GiB\n\n" + table.text("  ");
}

std::string diff_keys(const StepDifference& d) {
  if (!d.keys_known) return {};
  if (d.keys.empty()) return "\nThe scenarios say the same.\n";
  TextTable table({{"key", Align::left}, {"A", Align::left}, {"B", Align::left}});
  for (const KeyDifference& key : d.keys)
    table.add({key.key, shortened(key.a.value_or("-")), shortened(key.b.value_or("-"))});
  return "\nWhat the scenarios say differently\n\n" + table.text("  ");
}

std::string collective_name(const calibrate::TracedCollective& seen) {
  return seen.operation ? std::string(name(*seen.operation)) : "of no known operation";
}

std::string trace_text(const char* which, const DiffSide& side) {
  if (!side.trace) return {};
  const calibrate::StepTrace& t = *side.trace;
  const auto [least, most] = std::ranges::minmax(t.steps, {}, [](const auto& step) { return step.to - step.from; });
  std::string out = fmt::format("\n{}: {} of device {}; steps that the trace has: {}, of {} to {}. Streams:", which,
                                language::visible(side.name), t.device, t.steps.size(), text(least.to - least.from),
                                text(most.to - most.from));
  for (const calibrate::StreamTime& stream : t.streams)
    out += fmt::format(" {} busy {:.1f}%", stream.stream, 100 * (stream.busy / t.length));
  out += "\n";
  if (!t.collectives.empty()) {
    TextTable table({{"collective", Align::left}, {"ranks"}, {"runs"}, {"time"}, {"hidden"}, {"exposed"}});
    for (const calibrate::TracedCollective& seen : t.collectives)
      table.add({collective_name(seen), seen.ranks == 0 ? "-" : std::to_string(seen.ranks), std::to_string(seen.count),
                 text(seen.total), text(seen.total - seen.exposed), text(seen.exposed)});
    out += "\n" + table.text("  ");
  }
  if (t.unclassed.empty()) return out;
  TextTable table({{"kernel of no known class", Align::left}, {"runs"}, {"time"}});
  for (std::size_t i = 0; i < std::min(t.unclassed.size(), kMostKernels); ++i)
    table.add({shortened(t.unclassed[i].name, kLongestName), std::to_string(t.unclassed[i].count),
               text(t.unclassed[i].total)});
  return out + "\n" + table.text("  ");
}

Json side_json(const DiffSide& side) {
  Json out{{"name", side.name},
           {"file", side.file},
           {"step_time_s", to_seconds(side.step)},
           {"step_time_ps", side.step.value},
           {"stages", side.stages.size()},
           {"fits", side.fits}};
  put_plan(out, side.plan);
  out["trace"] = nullptr;
  if (!side.trace) return out;
  Json collectives = Json::array(), streams = Json::array(), kernels = Json::array();
  for (const calibrate::TracedCollective& seen : side.trace->collectives)
    collectives.push_back({{"operation", seen.operation ? Json(name(*seen.operation)) : Json(nullptr)},
                           {"ranks", seen.ranks == 0 ? Json(nullptr) : Json(seen.ranks)},
                           {"count", seen.count},
                           {"total_s", to_seconds(seen.total)},
                           {"exposed_s", to_seconds(seen.exposed)}});
  for (const calibrate::StreamTime& stream : side.trace->streams)
    streams.push_back({{"stream", stream.stream}, {"busy_s", to_seconds(stream.busy)}});
  for (const calibrate::KernelTotal& kernel : side.trace->unclassed)
    kernels.push_back({{"name", kernel.name}, {"count", kernel.count}, {"total_s", to_seconds(kernel.total)}});
  out["trace"] = {{"device", side.trace->device},
                  {"steps", side.trace->steps.size()},
                  {"collectives", std::move(collectives)},
                  {"streams", std::move(streams)},
                  {"unclassed", std::move(kernels)}};
  return out;
}

Json parts_json(const std::vector<PartDifference>& parts) {
  Json out = Json::array();
  for (const PartDifference& part : parts)
    out.push_back({{"key", part.key},
                   {"title", part.title},
                   {"group", part.group == PartGroup::compute         ? "compute"
                             : part.group == PartGroup::communication ? "communication"
                                                                      : "waiting"},
                   {"a_s", to_seconds(part.a)},
                   {"b_s", to_seconds(part.b)},
                   {"difference_s", to_seconds(part.difference())},
                   {"a_ps", part.a.value},
                   {"b_ps", part.b.value},
                   {"difference_ps", part.difference().value}});
  return out;
}

/// Every picosecond of it.
std::string exact(Time t) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  const Time size = absolute(t);
  return fmt::format("{}{}.{:012}", t < Time{} ? "-" : "", size.value / kSecond, size.value % kSecond);
}

}  // namespace

std::string diff_parts(const DiffSide& a, const DiffSide& b, const StepDifference& d, std::size_t width) {
  const TimeUnit unit = unit_of(std::max(a.step, b.step));
  constexpr std::size_t kOfNumbers = 74, kLeastBar = 6, kMostBar = 40;
  const std::size_t bar = std::clamp(width > kOfNumbers ? width - kOfNumbers : 0, kLeastBar, kMostBar);
  Time most{1};
  for (const PartDifference& part : d.parts) most = std::max(most, absolute(part.difference()));
  TextTable table({{"part", Align::left}, {"A"}, {"B"}, {"B - A"}, {"of A's step"}, {"", Align::left}});
  const auto add = [&](const std::string& title, const PartDifference& part, bool with_bar) {
    const auto length = static_cast<std::size_t>(static_cast<double>(bar) * (absolute(part.difference()) / most) + 0.5);
    table.add({title, number(part.a, unit), number(part.b, unit), change(part.difference(), unit),
               part.difference() == Time{} ? "-" : signed_percent(part.difference() / a.step),
               with_bar ? std::string(length, part.difference() < Time{} ? '-' : '+') : ""});
  };
  for (const auto& [group, title] : kGroups) {
    add(title, sum_of(d.parts, group), false);
    for (const PartDifference& part : d.parts)
      if (part.group == group && (part.a != Time{} || part.b != Time{}))
        add("  " + std::string(part.title), part, true);
  }
  PartDifference step;
  step.a = a.step;
  step.b = b.step;
  add("step", step, false);
  return fmt::format("Where the step goes, {}{}\n\n", unit.name,
                     a.stages.size() > 1 || b.stages.size() > 1 ? " (of several stages the mean)" : "") +
         table.text("  ");
}

std::string diff_table(const DiffSide& a, const DiffSide& b, const StepDifference& d, std::size_t width) {
  return head(a, b) + "\n" + diff_parts(a, b, d, width) + diff_stages(a, b, d) + diff_memory(d) + diff_keys(d) +
         trace_text("A", a) + trace_text("B", b);
}

std::string diff_json(const DiffSide& a, const DiffSide& b, const StepDifference& d) {
  Json stages = Json::array(), memory = Json::array(), keys = Json::array();
  for (std::size_t i = 0; i < d.stages.size(); ++i)
    stages.push_back({{"stage", a.stages[i].stage}, {"parts", parts_json(d.stages[i])}});
  for (const MemoryDifference& kind : d.memory)
    memory.push_back({{"key", kind.key},
                      {"a_bytes", kind.a.value},
                      {"b_bytes", kind.b.value},
                      {"difference_bytes", kind.difference().value}});
  for (const KeyDifference& key : d.keys)
    keys.push_back(
        {{"key", key.key}, {"a", key.a ? Json(*key.a) : Json(nullptr)}, {"b", key.b ? Json(*key.b) : Json(nullptr)}});
  return json_text({{"a", side_json(a)},
                    {"b", side_json(b)},
                    {"difference_s", to_seconds(b.step - a.step)},
                    {"difference_ps", (b.step - a.step).value},
                    {"parts", parts_json(d.parts)},
                    {"stages", std::move(stages)},
                    {"memory", std::move(memory)},
                    {"keys", d.keys_known ? std::move(keys) : Json(nullptr)}});
}

std::string diff_csv(const DiffSide& a, const DiffSide& b, const StepDifference& d) {
  std::string out = csv_line({"what", "key", "unit", "a", "b", "difference"});
  for (const PartDifference& part : d.parts)
    out += csv_line({"time", std::string(part.key), "s", exact(part.a), exact(part.b), exact(part.difference())});
  out += csv_line({"time", "step", "s", exact(a.step), exact(b.step), exact(b.step - a.step)});
  for (const MemoryDifference& kind : d.memory)
    out += csv_line({"memory", std::string(kind.key), "bytes", std::to_string(kind.a.value),
                     std::to_string(kind.b.value), std::to_string(kind.difference().value)});
  for (const KeyDifference& key : d.keys)
    out += csv_line({"key", key.key, "", key.a.value_or(""), key.b.value_or(""), ""});
  return out;
}

}  // namespace stepcast::app
