#include "app/report/plan_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/json_text.h"
#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using search::Checkpointing;
using search::RunPlan;
using Align = TextTable::Align;

/// "146,484,375", "1.5e+13" of what no double holds to the last digit.
std::string counted(double number) {
  constexpr double kExact = 9e15, kFewestWhole = 10;
  if (number > kExact) return fmt::format("{:.6g}", number);
  if (number < kFewestWhole && number != std::round(number)) return fmt::format("{:.2g}", number);
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

/// "31.35 days", "17.4 h".
std::string run_time_text(Duration time) {
  constexpr double kFewestDays = 2;
  return to_days(time) < kFewestDays ? text(time) : fmt::format("{:.4g} days", to_days(time));
}

/// Four digits, or all in front of the point.
std::string rate_text(double rate) {
  constexpr double kFourDigits = 9999.5;
  return rate < kFourDigits ? fmt::format("{:.4g}", rate) : counted(rate);
}

std::string money_text(const schedules::Money& money) {
  return counted(std::round(money.amount)) + " " + money.currency;
}

/// Measured over planned, minus 1 the other way round: what the plan is off by.
std::optional<double> plan_error(const PlannedRun& run) {
  const auto& measured = run.answer.question.scenario.measured.run_time;
  if (!measured || !run.plan) return std::nullopt;
  return run.plan->times.total / *measured - 1;
}

std::string checkpoint_text(const RunPlan& plan) {
  const Checkpointing& c = *plan.checkpoints;
  std::string words = fmt::format("{} steps, {}; one stalls {}", counted(c.steps), text(c.interval), text(c.copy));
  if (c.write.value > 0) words += ", and is written in " + text(c.write);
  return words;
}

std::string best_interval_text(const Checkpointing& c) {
  return fmt::format("{} of work; Young {}, Daly {}", text(*c.best), text(*c.young), text(*c.daly));
}

std::string simulated_text(const search::SimulatedRuns& runs) {
  return fmt::format("{} in the mean of {} runs (+- {}), 90% between {} and {}; {:.4g} failures",
                     run_time_text(runs.mean), runs.runs, text(runs.error()), run_time_text(runs.low),
                     run_time_text(runs.high), runs.failures);
}

using Lines = std::vector<std::pair<std::string, std::string>>;

void add_failure_lines(const PlannedRun& run, Lines& lines) {
  const RunPlan& plan = *run.plan;
  if (plan.checkpoints) lines.emplace_back("checkpoint every", checkpoint_text(plan));
  if (!plan.failures) return;
  lines.emplace_back("best interval", best_interval_text(*plan.checkpoints));
  lines.emplace_back("failures",
                     fmt::format("{:.4g}, one every {}", plan.times.failures, text(plan.failures->mean_between)));
  lines.emplace_back("lost",
                     fmt::format("{} of work done again, {} in restarts, {} in checkpoints", text(plan.times.lost),
                                 text(plan.times.restarts), text(plan.times.checkpoints)));
  lines.emplace_back("goodput", fmt::format("{:.2f}%", 100 * plan.times.goodput()));
  if (run.simulated) lines.emplace_back("simulated", simulated_text(*run.simulated));
}

Lines lines_of(const PlannedRun& run) {
  const RunPlan& plan = *run.plan;
  Lines lines;
  lines.emplace_back("target",
                     (plan.tokens ? counted(*plan.tokens) + " tokens, " : "") + counted(plan.samples) + " samples");
  lines.emplace_back("steps",
                     fmt::format("{} of {} {}, {} each", counted(plan.steps), counted(static_cast<double>(plan.batch)),
                                 plan.batch == 1 ? "sample" : "samples", text(plan.step)));
  std::string time = run_time_text(plan.times.total);
  if (run.low) time += ", band " + run_time_text(*run.low) + " to " + run_time_text(*run.high);
  if (run.low && !run.answer.band->in_range) time += " *";
  lines.emplace_back("time", time);
  lines.emplace_back("GPU-hours", fmt::format("{} on {} GPU{}", rate_text(plan.gpu_hours()), counted(plan.gpus),
                                              plan.gpus == 1 ? "" : "s"));
  add_failure_lines(run, lines);
  if (plan.energy) {
    const schedules::RunPower& power = run.answer.question.scenario.run.power;
    lines.emplace_back("energy", text(*plan.energy) + (power.host ? "" : ", of the GPUs alone") +
                                     (power.usage_effectiveness ? "" : ", without what the building adds"));
  }
  if (plan.money) lines.emplace_back("money", money_text(*plan.money));
  if (const auto error = plan_error(run))
    lines.emplace_back("measured", run_time_text(*run.answer.question.scenario.measured.run_time) + "; this is " +
                                       signed_percent(*error) + " off");
  return lines;
}

std::string open_text(const RunPlan& plan) {
  if (plan.open.empty()) return {};
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::left}});
  std::string out = "not known:\n";
  for (const search::OpenQuestion& open : plan.open)
    table.add({open.about, fmt::format("say {}", fmt::join(open.keys, ", ")), open.worth});
  const std::string rows = table.text("  ");
  return out + rows.substr(rows.find('\n') + 1);
}

/// Where nobody says what a GPU costs, the fewest GPU-hours are the least money whatever it is.
std::string least_money_words(const RunPlan& plan) { return plan.money ? "least money" : "fewest GPU-hours"; }

std::string batches_text(const search::BatchPlans& batches, std::int64_t own) {
  std::string left_out;
  for (const search::LeftOutSize& size : batches.left_out)
    left_out += fmt::format("{} GPUs are left out: {}\n", counted(size.gpus), size.why);
  if (batches.plans.empty()) return "no batch that goes with the plan fits\n" + left_out;
  TextTable table({{"GPUs"},
                   {"batch"},
                   {"samples"},
                   {"steps"},
                   {"step time"},
                   {"time"},
                   {"GPU-hours"},
                   {"money"},
                   {"useful samples/s"},
                   {"", Align::left}});
  for (std::size_t i = 0; i < batches.plans.size(); ++i) {
    const RunPlan& plan = batches.plans[i];
    std::string mark = plan.batch == own ? "the scenario's batch" : "";
    const auto also = [&](const std::string& words) { mark += (mark.empty() ? "" : ", ") + words; };
    if (i == batches.least_time) also("least time");
    if (i == batches.least_money) also(least_money_words(plan));
    table.add({counted(plan.gpus), counted(static_cast<double>(plan.batch)), counted(plan.samples), counted(plan.steps),
               text(plan.step), run_time_text(plan.times.total), rate_text(plan.gpu_hours()),
               plan.money ? money_text(*plan.money) : "-", rate_text(plan.useful_samples_per_second), mark});
  }
  std::string out = table.text();
  if (batches.refused > 0)
    out += fmt::format("{} more do not fit, or the cluster cannot carry them\n", batches.refused);
  return out + left_out;
}

std::string one_run_text(const PlannedRun& run) {
  const language::Question& question = run.answer.question;
  std::string out = language::visible(question.name) + "\n";
  if (!run.plan) return out + "  " + language::visible(question.error) + "\n";
  TextTable table({{"", Align::left}, {"", Align::left}});
  for (const auto& [title, words] : lines_of(run)) table.add({title, words});
  const std::string rows = table.text("  ");
  out += rows.substr(rows.find('\n') + 1);
  if (run.answer.forecast->out_of_memory) out += memory_message(*run.answer.forecast->out_of_memory) + "\n";
  out += open_text(*run.plan);
  if (run.batches) out += "\n" + batches_text(*run.batches, run.plan->batch);
  return out;
}

}  // namespace

std::string plan_table(std::span<const PlannedRun> runs) {
  std::string out;
  bool starred = false;
  for (const PlannedRun& run : runs) {
    out += (out.empty() ? "" : "\n") + one_run_text(run);
    starred = starred || (run.low && !run.answer.band->in_range);
  }
  if (starred) out += "\n* no measured step is like it: the range is of all tables\n";
  return out;
}

namespace {

/// A number of a run's plan, as JSON and CSV know it. Nothing: it is absent.
struct PlanFigure {
  const char* key;
  std::optional<double> (*of)(const RunPlan&);
};

constexpr PlanFigure kPlanFigures[] = {
    {"gpus", [](const RunPlan& p) -> std::optional<double> { return p.gpus; }},
    {"batch", [](const RunPlan& p) -> std::optional<double> { return static_cast<double>(p.batch); }},
    {"samples", [](const RunPlan& p) -> std::optional<double> { return p.samples; }},
    {"tokens", [](const RunPlan& p) { return p.tokens; }},
    {"steps", [](const RunPlan& p) -> std::optional<double> { return p.steps; }},
    {"step_time_s", [](const RunPlan& p) -> std::optional<double> { return to_seconds(p.step); }},
    {"time_s", [](const RunPlan& p) -> std::optional<double> { return p.times.total.value; }},
    {"useful_s", [](const RunPlan& p) -> std::optional<double> { return p.times.useful.value; }},
    {"checkpoints_s", [](const RunPlan& p) -> std::optional<double> { return p.times.checkpoints.value; }},
    {"lost_s", [](const RunPlan& p) -> std::optional<double> { return p.times.lost.value; }},
    {"restarts_s", [](const RunPlan& p) -> std::optional<double> { return p.times.restarts.value; }},
    {"goodput", [](const RunPlan& p) -> std::optional<double> { return p.times.goodput(); }},
    {"failures", [](const RunPlan& p) { return p.failures ? std::optional(p.times.failures) : std::nullopt; }},
    {"mean_between_failures_s",
     [](const RunPlan& p) { return p.failures ? std::optional(p.failures->mean_between.value) : std::nullopt; }},
    {"checkpoint_copy_s",
     [](const RunPlan& p) { return p.checkpoints ? std::optional(p.checkpoints->copy.value) : std::nullopt; }},
    {"checkpoint_write_s",
     [](const RunPlan& p) { return p.checkpoints ? std::optional(p.checkpoints->write.value) : std::nullopt; }},
    {"checkpoint_steps",
     [](const RunPlan& p) { return p.checkpoints ? std::optional(p.checkpoints->steps) : std::nullopt; }},
    {"checkpoint_interval_s",
     [](const RunPlan& p) { return p.checkpoints ? std::optional(p.checkpoints->interval.value) : std::nullopt; }},
    {"best_interval_s",
     [](const RunPlan& p) { return p.failures ? std::optional(p.checkpoints->best->value) : std::nullopt; }},
    {"young_interval_s",
     [](const RunPlan& p) { return p.failures ? std::optional(p.checkpoints->young->value) : std::nullopt; }},
    {"daly_interval_s",
     [](const RunPlan& p) { return p.failures ? std::optional(p.checkpoints->daly->value) : std::nullopt; }},
    {"gpu_hours", [](const RunPlan& p) -> std::optional<double> { return p.gpu_hours(); }},
    {"energy_kwh",
     [](const RunPlan& p) { return p.energy ? std::optional(to_kilowatt_hours(*p.energy)) : std::nullopt; }},
    {"money", [](const RunPlan& p) { return p.money ? std::optional(p.money->amount) : std::nullopt; }},
    {"useful_samples_per_second",
     [](const RunPlan& p) -> std::optional<double> { return p.useful_samples_per_second; }},
};

std::string optional_cell(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::vector<std::string> plan_cells(const RunPlan& plan) {
  std::vector<std::string> cells;
  for (const PlanFigure& figure : kPlanFigures) cells.push_back(optional_cell(figure.of(plan)));
  cells.push_back(plan.money ? plan.money->currency : "");
  return cells;
}

std::string csv_of(const PlannedRun& run) {
  const language::Question& question = run.answer.question;
  const auto row = [&](std::vector<std::string> middle, std::vector<std::string> last) {
    middle.insert(middle.begin(), question.name);
    middle.insert(middle.end(), last.begin(), last.end());
    return csv_line(middle);
  };
  if (!run.plan)
    return row(std::vector<std::string>(std::size(kPlanFigures) + 1), {"", "", "", "", "", question.error});
  const auto& measured = question.scenario.measured.run_time;
  const auto seconds_of = [](const std::optional<Duration>& time) {
    return optional_cell(time ? std::optional(time->value) : std::nullopt);
  };
  std::string out = row(plan_cells(*run.plan), {seconds_of(run.low), seconds_of(run.high), seconds_of(measured),
                                                optional_cell(plan_error(run)), "the scenario's", ""});
  if (!run.batches) return out;
  for (std::size_t i = 0; i < run.batches->plans.size(); ++i) {
    std::string best = i == run.batches->least_time ? "least time" : "";
    if (i == run.batches->least_money)
      best += std::string(best.empty() ? "" : ", ") + least_money_words(run.batches->plans[i]);
    out += row(plan_cells(run.batches->plans[i]), {"", "", "", "", best, ""});
  }
  for (const search::LeftOutSize& size : run.batches->left_out) {
    std::vector<std::string> cells(std::size(kPlanFigures) + 1);
    cells.front() = std::to_string(size.gpus);
    out += row(cells, {"", "", "", "", "", size.why});
  }
  return out;
}

Json figures_json(const RunPlan& plan) {
  Json out = Json::object();
  for (const PlanFigure& figure : kPlanFigures) {
    const std::optional<double> value = figure.of(plan);
    out[figure.key] = value ? Json(*value) : Json();
  }
  out["currency"] = plan.money ? Json(plan.money->currency) : Json();
  return out;
}

Json open_json(const RunPlan& plan) {
  Json all = Json::array();
  for (const search::OpenQuestion& open : plan.open)
    all.push_back({{"about", open.about}, {"keys", open.keys}, {"worth", open.worth}});
  return all;
}

Json batches_json(const std::optional<search::BatchPlans>& batches) {
  if (!batches) return {};
  Json plans = Json::array();
  for (const RunPlan& plan : batches->plans) plans.push_back(figures_json(plan));
  Json left_out = Json::array();
  for (const search::LeftOutSize& size : batches->left_out)
    left_out.push_back({{"gpus", size.gpus}, {"why", size.why}});
  const bool any = !batches->plans.empty();
  return {{"plans", plans},
          {"refused", batches->refused},
          {"left_out", left_out},
          {"least_time", any ? Json(batches->least_time) : Json()},
          {"least_money", any ? Json(batches->least_money) : Json()}};
}

Json simulated_json(const std::optional<search::SimulatedRuns>& runs) {
  if (!runs) return {};
  return {{"runs", runs->runs},       {"mean_s", runs->mean.value}, {"standard_error_s", runs->error().value},
          {"low_s", runs->low.value}, {"high_s", runs->high.value}, {"failures", runs->failures}};
}

Json one_run_json(const PlannedRun& run) {
  const language::Question& question = run.answer.question;
  Json out{{"name", question.name}};
  out["error"] = question.error.empty() ? Json() : Json(question.error);
  out["plan"] = run.plan ? figures_json(*run.plan) : Json();
  out["low_s"] = run.low ? Json(run.low->value) : Json();
  out["high_s"] = run.high ? Json(run.high->value) : Json();
  out["fits"] = run.plan ? Json(!run.answer.forecast->out_of_memory) : Json();
  const auto& measured = question.scenario.measured.run_time;
  out["measured_s"] = measured ? Json(measured->value) : Json();
  const std::optional<double> error = plan_error(run);
  out["error_of_plan"] = error ? Json(*error) : Json();
  out["open"] = run.plan ? open_json(*run.plan) : Json::array();
  out["simulated"] = simulated_json(run.simulated);
  out["batches"] = batches_json(run.batches);
  return out;
}

}  // namespace

std::string plan_csv(std::span<const PlannedRun> runs) {
  std::vector<std::string> titles{"name"};
  for (const PlanFigure& figure : kPlanFigures) titles.emplace_back(figure.key);
  titles.insert(titles.end(), {"currency", "low_s", "high_s", "measured_s", "error_of_plan", "row", "error"});
  std::string out = csv_line(titles);
  for (const PlannedRun& run : runs) out += csv_of(run);
  return out;
}

std::string plan_json(std::span<const PlannedRun> runs) {
  Json all = Json::array();
  for (const PlannedRun& run : runs) all.push_back(one_run_json(run));
  return json_text({{"runs", all}});
}

}  // namespace stepcast::app
