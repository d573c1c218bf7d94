#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "calibrate/in_parallel.h"
#include "sim/input_error.h"
#include "tests/long.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "tests/search/random_spaces.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

std::optional<SearchAnswer> answered(const Space& space, const SearchOptions& options) {
  workload::Machines machines;
  try {
    return search(space, options, machines);
  } catch (const InputError&) {  // no plan passes the checks
    return std::nullopt;
  }
}

/// How many plans a space has; none: none that passes the checks.
std::optional<std::size_t> screened(const Space& space) {
  SearchOptions few;
  few.budget = 1;
  const std::optional<SearchAnswer> answer = answered(space, few);
  if (!answer) return std::nullopt;
  return answer->screened;
}

/// `pruned` does not ask of every plan whether it fits, nor whether its cut of layers is the given one.
void expect_same(const SearchAnswer& pruned, const SearchAnswer& all) {
  EXPECT_GE(pruned.screened, all.screened);
  EXPECT_LE(pruned.refused, all.refused);
  const SearchAnswer &a = pruned, &b = all;
  ASSERT_EQ(a.best.size(), b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) {
    EXPECT_EQ(a.best[i].settings, b.best[i].settings) << i;
    EXPECT_EQ(a.best[i].forecast.step, b.best[i].forecast.step) << i;
    EXPECT_EQ(a.best[i].memory, b.best[i].memory) << i;
  }
  ASSERT_EQ(a.front.size(), b.front.size());
  for (std::size_t i = 0; i < a.front.size(); ++i) EXPECT_EQ(a.front[i].settings, b.front[i].settings) << i;
}

TEST(Search, PrunedFindsWhatExhaustiveFindsInRandomSpaces) {
  const std::uint64_t spaces = stepcast::test::kSanitized ? 8 : stepcast::test::long_run() ? 500 : 100;
  std::uint64_t searched = 0, simulated = 0, fit = 0;
  for (std::uint64_t seed = 1; searched < spaces; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Space space = random_space(seed);
    SearchOptions options;
    options.objective = static_cast<Objective>(seed % 5);
    if (seed % 7 == 0) options.within = milliseconds(50);
    if (seed % 3 == 0) options.most_memory = Bytes{space.start.cluster.gpu.memory.value / 2};
    options.top = 1 + seed % 4;
    options.front = seed % 2 == 0;
    // A few that are large for random ones take as long as all others, and are left out.
    if (!stepcast::test::long_run() && space.start.cluster.gpus > 32 && seed % 4 != 0) continue;
    const std::optional<std::size_t> plans = screened(space);
    if (!stepcast::test::long_run() && plans > (seed % 4 == 0 ? 400 : 120)) continue;
    const std::optional<SearchAnswer> pruned = answered(space, options);
    options.exhaustive = true;
    const std::optional<SearchAnswer> all = answered(space, options);
    ASSERT_EQ(pruned.has_value(), all.has_value());
    if (!all) continue;
    ++searched;
    simulated += pruned->simulated;
    fit += all->simulated;
    expect_same(*pruned, *all);
    for (const FoundPlan& plan : pruned->best) {
      EXPECT_LE(plan.memory, options.most_memory.value_or(plan.memory));
    }
    EXPECT_LE(pruned->late, all->late);
    EXPECT_EQ(all->simulated + all->failed, all->screened - all->refused);
    EXPECT_EQ(pruned->simulated + pruned->bounded + pruned->failed, pruned->screened - pruned->refused);
    EXPECT_EQ(pruned->gap.value_or(0), 0);
  }
  EXPECT_LT(simulated, fit) << "nothing was pruned";
}

/// Kernels that surely run draw what computing GPUs do, in the bound too: as where all time draws the same, which makes
/// energy a multiple of GPUs and time.
TEST(Search, ForTheLeastEnergySimulatesAboutAsFewPlansAsWhereAllTimeDrawsTheSame) {
  std::uint64_t unlike = 0, alike = 0;
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 4 : 40); ++seed) {
    Space space = random_space(seed);
    if (space.start.cluster.gpus > 16) continue;
    schedules::RunPower& power = space.start.run.power;
    power.waiting = Power{80};
    for (const double computing : {80.0, 700.0}) {
      power.computing = Power{computing};
      const std::optional<SearchAnswer> answer = answered(space, {.objective = Objective::energy, .top = 1});
      if (answer) (computing > 80 ? unlike : alike) += answer->simulated;
    }
  }
  EXPECT_GT(alike, 0);
  EXPECT_LT(unlike, alike + alike / 4);
}

TEST(Search, FindsTheBestOfThePlansThatAreWanted) {
  int searched = 0, none = 0;
  for (std::uint64_t seed = 1; searched < (test::kSanitized ? 2 : 10); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Space space = random_space(seed);
    SearchOptions options;
    options.exhaustive = true;
    options.top = 1000;
    if (screened(space).value_or(1000) > 120) continue;
    const std::optional<SearchAnswer> all = answered(space, options);
    if (!all || all->best.empty()) continue;
    ++searched;
    const std::uint32_t tensor = all->best.front().scenario.parallelism.tensor;
    options = {.top = 3};
    options.unwanted = [&](const Scenario& plan) {
      return plan.parallelism.tensor == tensor ? "as many tensor ranks as the best has" : "";
    };
    std::vector<Settings> wanted;
    for (const FoundPlan& plan : all->best)
      if (plan.scenario.parallelism.tensor != tensor && wanted.size() < options.top) wanted.push_back(plan.settings);
    const std::optional<SearchAnswer> found = answered(space, options);
    ASSERT_TRUE(found);
    std::vector<Settings> best;
    for (const FoundPlan& plan : found->best) best.push_back(plan.settings);
    EXPECT_EQ(best, wanted);
    EXPECT_GT(found->unwanted, 0);
    EXPECT_EQ(found->why_unwanted, "as many tensor ranks as the best has");
    EXPECT_EQ(found->simulated + found->bounded + found->failed + found->unwanted, found->screened - found->refused);
    EXPECT_EQ(found->gap, best.empty() ? std::nullopt : std::optional(0.0));
    none += best.empty();
    options.budget = 1;  // which plans that are not wanted take nothing of
    const std::optional<SearchAnswer> one = answered(space, options);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->simulated + one->failed, best.empty() ? 0 : 1);
  }
  EXPECT_LT(none, searched);
}

TEST(Search, AsksOnceWhetherAPlanIsWanted) {
  int asked_of = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Space space = random_space(seed);
    std::mutex mutex;
    std::map<Settings, int> asked;
    SearchOptions options{.top = 3};
    options.unwanted = [&](const Scenario& plan) {
      Settings settings{};
      for (std::size_t axis = 0; axis < kAxes; ++axis) settings[axis] = axes()[axis].of(plan);
      settings.back() = static_cast<std::int64_t>(plan.parallelism.layers_per_stage.empty());
      const std::lock_guard lock(mutex);
      ++asked[settings];
      return std::string{};
    };
    if (!answered(space, options)) continue;
    for (const auto& [settings, times] : asked) EXPECT_EQ(times, 1);
    asked_of += static_cast<int>(asked.size());
  }
  EXPECT_GT(asked_of, 0);
}

TEST(Search, ThatABudgetEndsIsNoWorseThanThePlanItStartsFrom) {
  std::uint64_t ended = 0;
  for (std::uint64_t seed = 1; seed <= (stepcast::test::kSanitized ? 4 : 24); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Space space = random_space(seed);
    const std::optional<SearchAnswer> all = answered(space, {});
    if (!all || all->best.empty()) continue;
    space.start = all->best.front().scenario;  // the best plan, which few simulations do not find
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const std::int64_t own = axes()[axis].of(space.start);
      if (std::ranges::find(space.values[axis], own) == space.values[axis].end()) space.values[axis].push_back(own);
      std::ranges::sort(space.values[axis]);
    }
    const std::optional<SearchAnswer> found = answered(space, {.budget = 1});
    if (!found || !found->own) continue;
    ASSERT_FALSE(found->best.empty());
    EXPECT_LE(found->best.front().forecast.step, found->own->forecast.step);
    EXPECT_EQ(found->simulated + found->bounded + found->failed + found->left, found->screened - found->refused);
    ++ended;
  }
  EXPECT_GT(ended, 0u);
}

TEST(Search, ThatIsStoppedHasWhatItFoundAndAGapThatHolds) {
  std::uint64_t stopped = 0, with_gap = 0;
  for (std::uint64_t seed = 1; seed <= (stepcast::test::kSanitized ? 4 : 24); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Space space = random_space(seed);
    const std::optional<SearchAnswer> all = answered(space, {});
    if (!all || all->best.empty()) continue;
    std::atomic<std::size_t> asked = 0;
    const std::size_t screenings = shared_settings(space).size();
    SearchOptions options;
    options.stopped = [&] { return ++asked > screenings + 2 + seed % 20; };
    const std::optional<SearchAnswer> found = answered(space, options);
    ASSERT_TRUE(found);
    if (!found->stopped) continue;
    ++stopped;
    EXPECT_EQ(found->unscreened, 0u);
    EXPECT_EQ(found->simulated + found->bounded + found->failed + found->left, found->screened - found->refused);
    if (found->best.empty() || !found->gap) continue;
    ++with_gap;
    EXPECT_LE(found->best.front().forecast.step / all->best.front().forecast.step, 1 + *found->gap + 1e-9);
  }
  EXPECT_GT(stopped, 0u);
  EXPECT_GT(with_gap, 0u);
}

TEST(Search, ThatIsStoppedBeforeItSawAPlanKnowsNoGap) {
  SearchOptions options;
  options.stopped = [] { return true; };
  const Space space = random_space(1);
  const std::optional<SearchAnswer> found = answered(space, options);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->stopped);
  EXPECT_EQ(found->unscreened, shared_settings(space).size());
  EXPECT_FALSE(found->gap);
}

}  // namespace
}  // namespace stepcast::search
