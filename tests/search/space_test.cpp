#include "search/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "sim/input_error.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "tests/search/random_spaces.h"

namespace stepcast::search {
namespace {

using namespace schedules;

std::vector<std::int64_t>& values(Space& space, const char* key) { return space.values[axis_named("", key)]; }

std::int64_t place_of(const char* key, const std::string& name) {
  return read_value(axes()[axis_named("", key)], "", name);
}

/// Of one layout on `gpus`, with so many stages, every other axis but those of `round_numbers` being still.
Space one_layout(std::uint32_t gpus, std::int64_t stages) {
  Space space = usual_space(round_numbers(gpus));
  values(space, "parallelism.tensor") = {1};
  values(space, "parallelism.context") = {1};
  values(space, "parallelism.pipeline") = {stages};
  values(space, "training.micro_batch") = {1};
  values(space, "recompute") = {0};
  values(space, "parallelism.sequence") = {0};
  values(space, "parallelism.layers_per_stage") = {0};
  values(space, "pipeline.schedule") = {place_of("pipeline.schedule", "1f1b")};
  values(space, "pipeline.virtual_stages") = {1};
  values(space, "data_parallel.zero") = {0};
  return space;
}

/// Values of an axis among the plans of the space that the checks accept.
std::set<std::string> tried(const Space& space, const char* key) {
  const std::size_t axis = axis_named("", key);
  workload::Machines machines;
  std::set<std::string> found;
  for (const Settings& shared : shared_settings(space))
    each_plan(space, shared, [&](const Settings& settings) {
      if (check(plan_of(space, settings, machines)).empty()) found.insert(text(axes()[axis], settings[axis]));
    });
  return found;
}

using Names = std::set<std::string>;

TEST(Space, OfOneDataRankHasZeroStatesThatHoldLess) {
  Space space = one_layout(1, 1);
  values(space, "data_parallel.zero") = {0, 1, 2, 3};
  EXPECT_EQ(tried(space, "data_parallel.zero"), Names{"0"});
  space.start.software.autograd_gradients = true;
  EXPECT_EQ(tried(space, "data_parallel.zero"), (Names{"0", "2", "3"}));
  space.start.software.autograd_gradients = false;
  values(space, "offload.optimizer") = {static_cast<std::int64_t>(Tier::host)};
  EXPECT_EQ(tried(space, "data_parallel.zero"), (Names{"0", "2", "3"}));
  values(space, "data_parallel.zero") = {1, 0};
  EXPECT_EQ(tried(space, "data_parallel.zero"), Names{"1"});
}

TEST(Space, OfOneDataRankHasZero3WhereItKeepsCastsOfWeightsForOneLayerAlone) {
  Space space = one_layout(1, 1);
  space.start.cluster.gpu.peak[Precision::fp8] = space.start.cluster.gpu.peak[Precision::bf16];
  values(space, "data_parallel.zero") = {0, 1, 2, 3};
  space.start.training.precision = Precision::fp8;
  EXPECT_EQ(tried(space, "data_parallel.zero"), (Names{"0", "3"}));
  space.start.training.scaling = Scaling::rowwise;  // casts what backward needs anew
  EXPECT_EQ(tried(space, "data_parallel.zero"), Names{"0"});
}

TEST(Space, HasTheScenariosOwnRecomputationOfSomeLayersBesideThoseOfAll) {
  Space space = one_layout(4, 1);
  EXPECT_EQ(axes()[axis_named("", "recompute")].usual(space.start).size(), 3U);
  space.start.recompute = Recompute::full;
  space.start.recompute_layers = 2;
  values(space, "recompute") = axes()[axis_named("", "recompute")].usual(space.start);
  EXPECT_EQ(tried(space, "recompute"), (Names{"none", "selective", "full", "given"}));
  workload::Machines machines;
  const std::size_t axis = axis_named("", "recompute");
  for (const Settings& shared : shared_settings(space)) {
    const std::optional<std::uint32_t> layers = plan_of(space, shared, machines).recompute_layers;
    EXPECT_EQ(layers, text(axes()[axis], shared[axis]) == "given" ? std::optional(2U) : std::nullopt);
  }
}

TEST(Space, HasRecomputationByOperatorWhereTheScenarioHas) {
  Space space = one_layout(4, 1);
  space.start.recompute = Recompute::by_operator;
  values(space, "recompute") = axes()[axis_named("", "recompute")].usual(space.start);
  EXPECT_EQ(tried(space, "recompute"), (Names{"none", "selective", "full", "by-operator"}));
}

TEST(Space, OfOneStageHasEverySchedule) {
  Space space = one_layout(4, 1);
  values(space, "pipeline.schedule") = {place_of("pipeline.schedule", "gpipe"), place_of("pipeline.schedule", "1f1b"),
                                        place_of("pipeline.schedule", "interleaved-1f1b")};
  EXPECT_EQ(tried(space, "pipeline.schedule"), (Names{"gpipe", "1f1b"})) << "interleaved with one chunk is 1F1B";
}

TEST(Space, OfOneStageHasPlansWhateverVirtualStagesAreTried) {
  Space space = one_layout(4, 1);
  values(space, "pipeline.virtual_stages") = {2, 4};
  EXPECT_EQ(tried(space, "pipeline.virtual_stages"), Names{"1"});
  values(space, "pipeline.schedule") = {place_of("pipeline.schedule", "zb-v")};
  values(space, "parallelism.pipeline") = {2};
  EXPECT_EQ(tried(space, "pipeline.virtual_stages"), Names{"1"}) << "zb-v has two of itself";
}

TEST(Space, HasInterleavingWithOneVirtualStageWhereNo1F1BIs) {
  Space space = one_layout(4, 2);
  values(space, "pipeline.schedule") = {place_of("pipeline.schedule", "gpipe"),
                                        place_of("pipeline.schedule", "interleaved-1f1b")};
  EXPECT_EQ(tried(space, "pipeline.schedule"), (Names{"gpipe", "interleaved-1f1b"}));
  values(space, "pipeline.schedule").push_back(place_of("pipeline.schedule", "1f1b"));
  EXPECT_EQ(tried(space, "pipeline.schedule"), (Names{"gpipe", "1f1b"}));
}

struct Result {
  Time step{};
  Bytes memory{};
};

std::optional<Result> result_of(const Space& space, const Settings& settings, workload::Machines& machines) {
  try {
    const Scenario plan = plan_of(space, settings, machines);
    if (!check(plan).empty()) return std::nullopt;
    const Forecast forecast = schedules::forecast(plan, machines, {.advise = false});
    if (!forecast.simulated || forecast.out_of_memory) return std::nullopt;
    Result result{forecast.step, {}};
    for (const MemoryUse& use : schedules::plan(plan, machines).memory)
      result.memory = std::max(result.memory, use.peak());
    return result;
  } catch (const InputError&) {  // the cluster cannot carry it
    return std::nullopt;
  }
}

/// Calls `visit` with every combination of the values of the axes that a layout leaves open, of given cuts.
void each_combination(const Space& space, Settings settings, std::size_t axis,
                      const std::function<void(const Settings&)>& visit) {
  if (axis + 1 == kAxes) {
    settings[axis] = static_cast<std::int64_t>(LayersPerStage::given);
    visit(settings);
    return;
  }
  for (const std::int64_t value : space.values[axis]) {
    settings[axis] = value;
    each_combination(space, settings, axis + 1, visit);
  }
}

TEST(Space, LeavesOutNoCombinationThatIsFasterAndHoldsLess) {
  static const std::size_t stages = axis_named("", "parallelism.pipeline"),
                           chunks = axis_named("", "pipeline.virtual_stages"),
                           layers = axis_named("", "parallelism.layers_per_stage");
  std::uint64_t left_out = 0;
  for (std::uint64_t seed = 1; left_out < (test::kSanitized ? 40 : 400); ++seed) {
    Space space = random_space(seed);
    if (seed % 2 == 0) space.start.software.autograd_gradients = true;
    if (space.start.cluster.gpus > 8 || space.start.imperfections.any()) continue;
    space.values[layers] = {static_cast<std::int64_t>(LayersPerStage::given)};
    workload::Machines machines;
    for (const Settings& shared : shared_settings(space)) {
      std::set<Settings> has;
      std::vector<Result> results;
      each_plan(space, shared, [&](const Settings& settings) {
        has.insert(settings);
        if (const std::optional<Result> result = result_of(space, settings, machines)) results.push_back(*result);
      });
      each_combination(space, shared, kSharedAxes, [&](const Settings& settings) {
        // Chunks of one stage are nobody's plan: docs/search.md says that they are not tried.
        if (has.contains(settings) || (settings[stages] == 1 && settings[chunks] > 1)) return;
        const std::optional<Result> other = result_of(space, settings, machines);
        if (!other) return;
        ++left_out;
        EXPECT_TRUE(std::ranges::any_of(
            results,
            [&](const Result& result) { return result.step <= other->step && result.memory <= other->memory; }))
            << "seed " << seed << ": " << [&] {
                 std::string words;
                 for (std::size_t axis = 0; axis < kAxes; ++axis)
                   words += std::string(axes()[axis].key) + " " + text(axes()[axis], settings[axis]) + ", ";
                 return words;
               }();
      });
    }
  }
}

}  // namespace
}  // namespace stepcast::search
