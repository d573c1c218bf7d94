#include "app/commands/search_until.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "app/report/edge_report.h"
#include "app/report/figure.h"
#include "app/sweep/condition.h"
#include "language/core/nearest.h"
#include "search/resource.h"
#include "search/sensitivity.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using schedules::ReportedQuantity;
using schedules::Scenario;
using schedules::Unit;

constexpr std::string_view kGpus = "cluster.gpus", kMemory = "memory";
/// Resources are tried from a 64th of the scenario's to 64 times as good, each value a hundredth better than the one
/// before; memory from 1 GiB to four times the scenario's, each a GiB more.
constexpr double kFurthest = 64;
constexpr std::int64_t kGibibyte = std::int64_t{1} << 30, kMostMemory = 4;

/// What is changed from point to point.
struct TriedValues {
  std::vector<EdgeValue> values;
  std::string_view counted_in;
  search::EdgeWalk walk = search::EdgeWalk::halves;
  std::function<void(search::Space&, double number)> set;
  std::string which{};  ///< as of EdgeReport
};

TriedValues gpus_tried(const search::Space& space) {
  const std::size_t axis = search::axis_named("", std::string(kGpus));
  TriedValues tried{{}, "GPUs", search::EdgeWalk::each, [axis](search::Space& at, double number) {
                      at.values[axis] = {std::llround(number)};
                    }};
  const std::vector<std::int64_t>& values = space.values[axis];
  for (const std::int64_t gpus : values) tried.values.push_back({static_cast<double>(gpus), std::to_string(gpus)});
  tried.which = fmt::format("{}, from the least on until one meets it", fmt::join(values, ", "));
  // Not those of --over, which says what it tries.
  if (values == search::smaller_clusters(space.start))
    tried.which += fmt::format(
        ": what divides the scenario's {} GPUs and is whole nodes or part of one; other numbers "
        "are tried with --over cluster.gpus=A,B,...",
        space.start.cluster.gpus);
  return tried;
}

TriedValues memory_tried(const search::Space& space) {
  const Bytes now = space.start.cluster.gpu.memory;
  TriedValues tried{{}, "bytes", search::EdgeWalk::halves, [now](search::Space& at, double number) {
                      schedules::ClusterSpec& cluster = at.start.cluster;
                      cluster.gpu.memory = {std::llround(number)};
                      if (cluster.other)
                        cluster.other->gpu.memory = {std::llround(static_cast<double>(cluster.other->gpu.memory.value) *
                                                                  number / static_cast<double>(now.value))};
                    }};
  for (std::int64_t bytes = kGibibyte; bytes <= kMostMemory * now.value; bytes += kGibibyte)
    tried.values.push_back({static_cast<double>(bytes), fmt::format("{} GiB", bytes / kGibibyte)});
  tried.which = fmt::format("every GiB up to {}, four times what the GPU has, by halves", tried.values.back().text);
  return tried;
}

std::string factor_text(const Scenario& s, const search::RatedResource& resource, double factor) {
  const auto at = resource.rated_at != nullptr ? resource.rated_at(s) : std::nullopt;
  std::string rate;
  if (at) rate = std::visit([&](auto rated) { return " (" + text(rated * factor) + ")"; }, *at);
  return fmt::format("{:.3g} x{}", factor, rate);
}

TriedValues resource_tried(const search::Space& space, const search::RatedResource& resource) {
  TriedValues tried{{}, "times as good", search::EdgeWalk::halves, [&resource](search::Space& at, double number) {
                      search::improve(at.start, resource, number);
                    }};
  const int steps = static_cast<int>(std::log(kFurthest) / std::log(search::kSlightly));
  for (int step = -steps; step <= steps; ++step) {
    const double factor = std::pow(search::kSlightly, step);
    tried.values.push_back({factor, factor_text(space.start, resource, factor)});
  }
  tried.which = fmt::format("from {} to {}, each 1% better than the one before, by halves", tried.values.front().text,
                            tried.values.back().text);
  return tried;
}

TriedValues tried_of(const search::Space& space, const std::string& least) {
  if (least == kGpus) return gpus_tried(space);
  if (least == kMemory) return memory_tried(space);
  std::vector<std::string_view> names{kGpus, kMemory};
  for (const search::RatedResource& each : search::resources()) {
    if (each.name == least) {
      if (!search::has(space.start, each))
        throw InputError("--least", "the scenario has no " + least + ": " + std::string(each.meaning));
      return resource_tried(space, each);
    }
    names.push_back(each.name);
  }
  throw InputError("--least", "found " + in_quotes(least) + ", expected " + language::one_of(least, names));
}

NamedDatum::Measure measure_of(Unit unit) {
  return unit == Unit::seconds            ? NamedDatum::Measure::time
         : unit == Unit::bytes            ? NamedDatum::Measure::bytes
         : unit == Unit::flops_per_second ? NamedDatum::Measure::flop_rate
                                          : NamedDatum::Measure::none;
}

/// "step_time" of "step_time_s", "peak_memory" of "peak_memory_bytes".
std::string_view without_unit(std::string_view key) {
  for (const std::string_view unit : {"_s", "_bytes"})
    if (key.ends_with(unit) && !key.ends_with("_per_s")) return key.substr(0, key.size() - unit.size());
  return key;
}

/// The quantities of results, with and without the unit in their names.
Vocabulary quantity_names() {
  Vocabulary all{[](const std::string& name) -> std::optional<NamedDatum> {
                   const auto quantities = schedules::quantities();
                   for (std::size_t i = 0; i < quantities.size(); ++i)
                     if (name == quantities[i].key || name == without_unit(quantities[i].key))
                       return NamedDatum{NamedDatum::Kind::number, measure_of(quantities[i].unit), {}, i};
                   return std::nullopt;
                 },
                 {},
                 "a result"};
  for (const ReportedQuantity& quantity : schedules::quantities()) all.names.emplace_back(without_unit(quantity.key));
  return all;
}

bool is_met(const Condition& condition, const search::FoundPlan& plan) {
  Answer answer;
  answer.question.scenario = plan.scenario;
  answer.forecast = plan.forecast;
  return condition.holds([&](std::size_t quantity) -> Datum {
    const Figure value = figure(schedules::quantities()[quantity], answer);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return {};
  });
}

}  // namespace

bool asks_until(const boost::program_options::variables_map& values) {
  const bool until = !word(values, "until").empty(), least = !word(values, "least").empty();
  if (until != least)
    throw InputError(until ? "--until" : "--least", until
                                                        ? "found without --least, expected what there shall be least of"
                                                        : "found without --until, expected the target");
  refuse_beside(values, "until", {"objective", "top", "front", "budget", "emit"});
  return until;
}

int search_until(const Asked& asked, const search::Space& space,
                 const std::function<search::SearchAnswer(const search::Space&)>& best_of) {
  const std::string least = word(asked.values, "least"), until = word(asked.values, "until");
  const Condition condition(until, quantity_names(), "--until");
  TriedValues tried = tried_of(space, least);
  EdgeReport report{space, until, least, tried.counted_in, std::move(tried.values), std::move(tried.which), {}};
  std::optional<InputError> refused;  // what keeps the first cluster that has no plan at all from having one
  bool any = false;
  report.edge = search::find_edge(report.values.size(), tried.walk, [&](std::size_t place) {
    search::Space at = space;
    tried.set(at, report.values[place].number);
    search::EdgePoint point{place};
    search::SearchAnswer answer;
    try {
      answer = best_of(at);
      any = true;
    } catch (const InputError& why) {
      if (least != kGpus) throw;
      if (!refused) refused = why;  // a larger cluster may hold what this one does not
    }
    if (answer.best.empty()) return point;
    point.best = std::move(answer.best.front());
    point.met = is_met(condition, *point.best);
    return point;
  });
  if (!any && refused) throw InputError(*refused);
  write_output(asked.output, asked.format == Format::json  ? edge_json(report)
                             : asked.format == Format::csv ? edge_csv(report)
                                                           : edge_table(report));
  return report.edge.least ? kDone : kDoesNotFit;
}

}  // namespace stepcast::app
