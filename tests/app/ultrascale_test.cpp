// scenarios/ultrascale: 1,613 plans that ran or failed, of models of 1 to 80 billion parameters on 8 to 512 H100.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/fit/statistics.h"
#include "language/tables/csv.h"
#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::string percent(const Json& share) {
  return share.is_null() ? "-" : fmt::format("{:.0f}%", 100 * share.get<double>());
}

/// Every plan, predicted beside measured: once for all tests.
const Outcome& validated() {
  static const Outcome outcome = run_program("validate scenarios/ultrascale --format json");
  return outcome;
}

/// By the committed stack, which nothing of the playbook was fitted to but for the host's time of a launch.
TEST(UltraScale, IsComparedPlanByPlanOnThePageOfAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the release half forecasts all plans";
  const Outcome& outcome = validated();
  ASSERT_LE(outcome.status, 1) << outcome.err;  // ten plans that ran cannot be shared out as nanotron does
  const Json all = Json::parse(outcome.out);
  ASSERT_EQ(all["rows"].size(), 1613u);
  std::vector<double> errors, memory;
  for (const Json& row : all["rows"]) {
    if (row["error"].is_number()) errors.push_back(std::abs(row["error"].get<double>()));
    if (row["measured_bytes"].is_number() && row["predicted_bytes"].is_number())
      memory.push_back(std::abs(row["predicted_bytes"].get<double>() / row["measured_bytes"].get<double>() - 1));
    EXPECT_EQ(row["measured_outcome"] == "failed", row["measured_s"].is_null()) << row["name"];
  }
  std::string table =
      "| space | plans | mean error | median | rank correlation | memory | failed, refused | ran, refused |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const Json& t : all["tables"])
    table +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", t["table"].get<std::string>(), t["rows"].get<int>(),
                    percent(t["mape"]), percent(t["median_error"]),
                    t["rank_correlation"].is_null() ? "-" : fmt::format("{:.2f}", t["rank_correlation"].get<double>()),
                    percent(t["memory_mape"]), percent(t["failed_found"]), percent(t["ran_refused"]));
  table += fmt::format("| median of all plans' absolute errors | {} | {:.0f}% | | | {:.0f}% | {} | {:.1f}% |\n",
                       errors.size(), 100 * *calibrate::median(errors), 100 * *calibrate::median(memory),
                       percent(all["failed_found"]), 100 * all["ran_refused"].get<double>());
  expect_block("docs/accuracy.md", "ultra-scale", table);
}

// Plans whose GPUs were nearly full: few of them took about as long as forecast.
TEST(UltraScale, FullGpusAreSlowerThanForecast) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the release half forecasts all plans";
  constexpr double kGiB = 1024.0 * 1024 * 1024, kOfGpu = 79.6;
  const std::vector<double> edges{30, 40, 50, 60, 70, kOfGpu};
  std::vector<std::vector<double>> slower(edges.size() - 1);  // measured over forecast
  const Json all = Json::parse(validated().out);
  for (const Json& row : all["rows"]) {
    if (!row["measured_bytes"].is_number() || !row["error"].is_number()) continue;
    const double reserved = row["measured_bytes"].get<double>() / kGiB;
    for (std::size_t band = 0; band < slower.size(); ++band)
      if (edges[band] <= reserved && reserved < edges[band + 1])
        slower[band].push_back(1 / (1 + row["error"].get<double>()));
  }
  std::string table =
      "| memory | plans | measured over forecast, median | more than twice as long |\n|---|--:|--:|--:|\n";
  for (std::size_t band = 0; band < slower.size(); ++band) {
    ASSERT_FALSE(slower[band].empty());
    const auto slow = std::ranges::count_if(slower[band], [](double times) { return times > 2; });
    table += fmt::format("| {:.0f} to {:.0f} GiB | {} | {:.2f} | {:.0f}% |\n", edges[band], edges[band + 1],
                         slower[band].size(), *calibrate::median(slower[band]),
                         100 * static_cast<double>(slow) / static_cast<double>(slower[band].size()));
  }
  expect_block("docs/accuracy.md", "full GPUs", table);
}

/// A measured plan of a space, as the rules of thumb see it.
struct MeasuredPlan {
  double measured = 0, predicted = 0;  ///< seconds
  int gpus = 0, stages = 0, tensor = 0, micro_batch = 0, micro_batches = 0, zero = 0;
};

/// Those of a table that ran and are predicted, by the names of its rows; and the times of those that were measured
/// more than once.
struct Space {
  std::vector<MeasuredPlan> plans;
  std::vector<std::vector<double>> repeats;
};

Space space_of(const std::string& table, const Json& rows) {
  const std::string file = STEPCAST_SOURCE_DIR "/scenarios/ultrascale/" + table + ".csv";
  const std::vector<language::Record> records = language::parse_csv(read_text(file), file);
  const auto column = [&](const char* key) {
    return static_cast<std::size_t>(std::ranges::find(records.front(), key, &language::Cell::text) -
                                    records.front().begin());
  };
  std::map<std::string, std::pair<double, double>> times_of;  // measured, predicted
  for (const Json& row : rows)
    if (row["table"] == table && row["error"].is_number())
      times_of[row["name"]] = {row["measured_s"], row["predicted_s"]};
  Space space;
  std::map<std::vector<std::string>, std::vector<double>> alike;
  for (const language::Record& row : std::span(records).subspan(1)) {
    const auto times = times_of.find(row.at(column("name")).text);
    if (times == times_of.end()) continue;
    const auto [measured, predicted] = times->second;
    const auto number = [&](const char* key) { return std::stoi(row.at(column(key)).text); };
    const int micro_batch = number("training.micro_batch");
    space.plans.push_back({measured, predicted, number("cluster.gpus"), number("parallelism.pipeline"),
                           number("parallelism.tensor"), micro_batch,
                           number("training.global_batch") / (micro_batch * number("parallelism.data")),
                           number("data_parallel.zero")});
    std::vector<std::string> plan;
    for (std::size_t cell = column("cluster.node"); cell < column("measured.outcome"); ++cell)
      plan.push_back(row.at(cell).text);
    alike[plan].push_back(measured);
  }
  for (const auto& [plan, times] : alike)
    if (times.size() > 1) space.repeats.push_back(times);
  return space;
}

/// What each way to choose a plan loses to the measured best: its measured time over that of the best, minus 1.
struct Regrets {
  double fitted = 0,
         fitted_five = 0;  ///< by the stack fitted to other models: its first plan, the best of its first five
  double committed = 0, committed_five = 0;  ///< by the committed stack
  double noise = 0, noise_five = 0;          ///< by the fitted stack, if all it got wrong was noise
  double fewest_stages = 0, least_tensor = 0, median_plan = 0;
};

/// Of plans that were measured more than once: each time over the mean of its plan.
using Spreads = std::vector<std::vector<double>>;

Spreads spreads_of(const std::vector<std::vector<double>>& repeats) {
  Spreads spreads;
  for (const std::vector<double>& times : repeats) {
    double logarithms = 0;
    for (const double time : times) logarithms += std::log(time);
    std::vector<double>& spread = spreads.emplace_back();
    for (const double time : times) spread.push_back(time / std::exp(logarithms / static_cast<double>(times.size())));
  }
  return spreads;
}

/// What the first of plans in the order of their predictions loses, and the best of the first five, if each takes what
/// is predicted times the spread of a plan that was measured more than once: the mean of many draws.
void add_noise(Regrets& regrets, const Json& rows, const Spreads& spreads) {
  constexpr int kDraws = 1000;
  constexpr std::size_t kFive = 5;
  std::vector<std::pair<double, double>> plans;  // not said to fit, and the prediction: as the choice has them
  for (const Json& row : rows)
    if (row["error"].is_number()) plans.emplace_back(row["fits"].get<bool>() ? 0 : 1, row["predicted_s"]);
  std::ranges::sort(plans);
  std::mt19937 random(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> times;
    for (const auto& [misfit, predicted] : plans) {
      const std::vector<double>& spread = spreads[random() % spreads.size()];
      times.push_back(predicted * spread[random() % spread.size()]);
    }
    const double best = std::ranges::min(times);
    regrets.noise += (times.front() / best - 1) / kDraws;
    times.resize(std::min(times.size(), kFive));
    regrets.noise_five += (std::ranges::min(times) / best - 1) / kDraws;
  }
}

void add_rules_of_thumb(Regrets& regrets, const std::vector<MeasuredPlan>& plans) {
  std::vector<double> measured;
  for (const MeasuredPlan& plan : plans) measured.push_back(plan.measured);
  const double best = *std::ranges::min_element(measured);
  const auto chosen = [&](auto rule) { return std::ranges::min(plans, {}, rule).measured / best - 1; };
  regrets.fewest_stages = chosen([](const auto& p) { return std::tuple(p.stages, p.tensor, -p.micro_batch); });
  regrets.least_tensor = chosen([](const auto& p) { return std::tuple(p.tensor, p.stages, -p.micro_batch); });
  regrets.median_plan = *calibrate::median(measured) / best - 1;
}

/// The plans of one space, forecast by a stack that scripts/search_regret.sh fitted to plans of other models, with
/// `options`: once for all tests.
const Json& validated_as_fitted(const std::string& space, const std::string& options = "") {
  static std::map<std::string, Json> known;
  if (const auto found = known.find(space + options); found != known.end()) return found->second;
  const Outcome outcome = run_program("validate scenarios/ultrascale/" + space + ".csv --format json --set software=" +
                                      STEPCAST_SOURCE_DIR "/tests/golden/ultrascale/without_" +
                                      space.substr(0, space.rfind('_')) + ".yaml" + options);
  EXPECT_LE(outcome.status, 1) << outcome.err;
  return known[space + options] = Json::parse(outcome.out);
}

/// The names of the spaces of which some plans ran.
std::vector<std::string> spaces_that_ran() {
  std::vector<std::string> names;
  const Json all = Json::parse(validated().out);
  for (const Json& t : all["tables"])
    if (t["regret"].is_number()) names.push_back(t["table"]);
  return names;
}

/// Seconds that each micro-batch took more than forecast.
double more(const MeasuredPlan& plan) { return (plan.measured - plan.predicted) / plan.micro_batches; }

/// A pipeline of which nobody knows beforehand whether it waits: on 64 nodes all do, as the fitted stacks know.
bool may_wait(const MeasuredPlan& plan) {
  constexpr int kAllWait = 512;  // GPUs
  return plan.stages > 1 && plan.gpus < kAllWait;
}

/// One that waits for each of its messages.
bool waits(const MeasuredPlan& plan) {
  constexpr double kNoOther = 0.25;
  return may_wait(plan) && more(plan) > kNoOther;
}

double rank_correlation(const std::vector<MeasuredPlan>& plans) {
  std::vector<double> measured, predicted;
  for (const MeasuredPlan& plan : plans) {
    measured.push_back(plan.measured);
    predicted.push_back(plan.predicted);
  }
  return calibrate::rank_correlation(measured, predicted).value();
}

/// What keeps the forecast's order of plans from the measured one: some pipelines take about a quarter of a second more
/// for each message of a micro-batch, twice as many with more than two stages.
TEST(UltraScale, PipelinesThatWaitForEachMessageAreOnThePageOfAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the release half forecasts all plans";
  std::map<int, std::vector<double>> waiting;  // by stages: what each micro-batch takes more, in order
  std::map<int, int> plans;
  std::vector<double> ranks, ranks_of_others;
  std::size_t others = 0;
  int twins = 0, both_wait = 0;
  for (const std::string& name : spaces_that_ran()) {
    std::vector<MeasuredPlan> space = space_of(name, validated_as_fitted(name)["rows"]).plans;
    ranks.push_back(rank_correlation(space));
    for (const MeasuredPlan& plan : space) {
      if (may_wait(plan)) ++plans[plan.stages];
      if (waits(plan)) waiting[plan.stages].push_back(more(plan));
    }
    std::map<std::tuple<int, int, int, int>, std::map<int, bool>> by_zero;  // one measurement of each stage of ZeRO
    for (const MeasuredPlan& plan : space)
      by_zero[{plan.stages, plan.tensor, plan.micro_batch, plan.micro_batches}].emplace(plan.zero, waits(plan));
    for (const auto& [plan, wait] : by_zero) {
      const auto waiting_ones = std::ranges::count_if(wait, [](const auto& each) { return each.second; });
      if (wait.size() == 2 && waiting_ones > 0) ++twins;
      if (waiting_ones == 2) ++both_wait;
    }
    std::erase_if(space, waits);
    others += space.size();
    ranks_of_others.push_back(rank_correlation(space));
  }
  std::string table =
      "| stages | plans | wait | a micro-batch takes more, median | eight of ten from | to "
      "|\n|--:|--:|--:|--:|--:|--:|\n";
  for (auto& [stages, seconds] : waiting) {
    std::ranges::sort(seconds);
    const std::size_t tenth = seconds.size() / 10;
    table +=
        fmt::format("| {} | {} | {} | {:.2f} s | {:.2f} s | {:.2f} s |\n", stages, plans.at(stages), seconds.size(),
                    *calibrate::median(seconds), seconds.at(tenth), seconds.at(seconds.size() - 1 - tenth));
  }
  table += fmt::format("\nPlans that were run with two stages of ZeRO and wait with one or both: {}; with both: {}.\n",
                       twins, both_wait);
  table += fmt::format("\nRank correlation in a space, mean of {}: {:.2f}; of the {} plans that do not wait {:.2f}.\n",
                       ranks.size(), mean(ranks), others, mean(ranks_of_others));
  EXPECT_GT(*calibrate::median(waiting.at(4)), 1.6 * *calibrate::median(waiting.at(2)));
  EXPECT_LT(*calibrate::median(waiting.at(8)), 1.3 * *calibrate::median(waiting.at(4)));
  EXPECT_LT(10 * both_wait, twins);
  EXPECT_GT(mean(ranks_of_others), 0.85);
  expect_block("docs/accuracy.md", "waiting pipelines", table);
}

/// Where what one plan was measured at lies: nearer to the first forecast of it than to the second.
bool is_nearer(const MeasuredPlan& first, const MeasuredPlan& second) {
  const auto off = [](const MeasuredPlan& plan) { return std::abs(std::log(plan.predicted / plan.measured)); };
  return off(first) < off(second);
}

double error(const MeasuredPlan& plan) { return std::abs(plan.predicted / plan.measured - 1); }

/// The pipelines that wait are those of one version of nanotron, whose hosts ask every 0.1 s whether the shape of a
/// tensor has come (configs/software/nanotron-polled.yaml, of whose two constants none is fitted).
TEST(UltraScale, TheVersionThatPollsIsOnThePageOfAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the release half forecasts all plans";
  std::map<int, std::vector<double>> polled, fitted;  // errors of plans that waited, by stages
  std::vector<double> all, ranks;
  const std::string released = " --set software.send_delay=0ps",
                    polls = released + " --set software.activation_hold=400ms --set software.gradient_hold=200ms";
  for (const std::string& name : spaces_that_ran()) {
    std::vector<MeasuredPlan> told = space_of(name, validated_as_fitted(name, released)["rows"]).plans;
    const std::vector<MeasuredPlan> as_polled = space_of(name, validated_as_fitted(name, polls)["rows"]).plans,
                                    as_fitted = space_of(name, validated_as_fitted(name)["rows"]).plans;
    ASSERT_EQ(as_polled.size(), told.size());
    ASSERT_EQ(as_fitted.size(), told.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (told[i].stages > 1 && is_nearer(as_polled[i], told[i])) {
        told[i] = as_polled[i];
        polled[told[i].stages].push_back(error(as_polled[i]));
        fitted[told[i].stages].push_back(error(as_fitted[i]));
      }
      all.push_back(error(told[i]));
    }
    ranks.push_back(rank_correlation(told));
  }
  std::string table = "| stages | plans | off with polls, median | off as fitted |\n|--:|--:|--:|--:|\n";
  for (const auto& [stages, errors] : polled) {
    table += fmt::format("| {} | {} | {:.1f}% | {:.1f}% |\n", stages, errors.size(), 100 * *calibrate::median(errors),
                         100 * *calibrate::median(fitted.at(stages)));
    EXPECT_LT(*calibrate::median(errors), 0.1) << stages;
  }
  table += fmt::format(
      "\nAll {} plans, each by its version: off by {:.1f}% in the median, {:.1f}% in the mean; rank "
      "correlation in a space, mean of {}: {:.2f}.\n",
      all.size(), 100 * *calibrate::median(all), 100 * mean(all), ranks.size(), mean(ranks));
  EXPECT_GT(mean(ranks), 0.93);
  expect_block("docs/accuracy.md", "two versions", table);
}

using RegretColumn = double Regrets::*;
constexpr RegretColumn kRegretColumns[] = {&Regrets::fitted,        &Regrets::fitted_five,  &Regrets::noise,
                                           &Regrets::noise_five,    &Regrets::committed,    &Regrets::committed_five,
                                           &Regrets::fewest_stages, &Regrets::least_tensor, &Regrets::median_plan};

std::string regret_line(const std::string& name, const std::string& plans, const Regrets& regrets) {
  std::string line = "| " + name + " | " + plans + " |";
  for (const RegretColumn column : kRegretColumns) line += fmt::format(" {:.1f}% |", 100 * regrets.*column);
  return line + "\n";
}

/// How far a search's choice is from the measured best, which is worth what the forecast's order of plans is.
TEST(UltraScale, RegretOfTheChosenPlanIsOnThePageOfSearch) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the release half forecasts all plans";
  const Json all = Json::parse(validated().out);
  std::string table =
      "| space | plans | fitted | best of its first five | noise alone | best of five | `nanotron` | best of its first "
      "five | fewest stages | least tensor | median plan |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  std::vector<Regrets> every;
  std::vector<double> slowest_over_fastest;
  std::vector<std::vector<double>> repeats;
  std::map<std::string, Space> spaces;
  for (const Json& t : all["tables"]) {
    const auto name = t["table"].get<std::string>();
    const Space& space = spaces[name] = space_of(name, all["rows"]);
    repeats.insert(repeats.end(), space.repeats.begin(), space.repeats.end());
  }
  const Spreads spreads = spreads_of(repeats);
  for (const Json& t : all["tables"]) {
    const auto name = t["table"].get<std::string>();
    if (!t["regret"].is_number()) continue;  // none ran
    const Json &by_fitted = validated_as_fitted(name), fitted = by_fitted["tables"][0];
    ASSERT_TRUE(fitted["regret"].is_number()) << name;
    Regrets r{.fitted = fitted["regret"],
              .fitted_five = fitted["regret_best_of_five"],
              .committed = t["regret"],
              .committed_five = t["regret_best_of_five"]};
    const Space& space = spaces.at(name);
    add_rules_of_thumb(r, space.plans);
    add_noise(r, by_fitted["rows"], spreads);
    for (const auto& times : space.repeats)
      slowest_over_fastest.push_back(std::ranges::max(times) / std::ranges::min(times));
    table += regret_line(name, std::to_string(space.plans.size()), r);
    every.push_back(r);
  }
  ASSERT_EQ(every.size(), 13u);
  Regrets middle, average;
  for (const RegretColumn column : kRegretColumns) {
    std::vector<double> values;
    for (const Regrets& each : every) values.push_back(each.*column);
    middle.*column = *calibrate::median(values);
    average.*column = mean(values);
  }
  table += regret_line("median", "", middle) + regret_line("mean", "", average);
  std::ranges::sort(slowest_over_fastest);
  table += fmt::format("\nPlans that were measured more than once: {}; the slowest over the fastest time of each:",
                       slowest_over_fastest.size());
  for (const double spread : slowest_over_fastest) table += fmt::format(" {:.2f}", spread);
  table += ".\n";
  EXPECT_LT(middle.fitted, middle.median_plan);  // else a plan drawn by lot does as well
  EXPECT_LT(average.fitted_five, average.fitted);
  EXPECT_LT(average.fitted, std::min(average.fewest_stages, average.least_tensor));
  expect_block("docs/search.md", "regret", table);
}

}  // namespace
}  // namespace stepcast::app
