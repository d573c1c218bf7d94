#include "search/layouts/stages.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace stepcast::search {
namespace {

/// Every way to share out layers and devices is tried.
class BestOfAllStages {
 public:
  explicit BestOfAllStages(const StageProblem& problem) : p_(problem) {
    for (std::uint32_t stages = problem.stages.value_or(1); stages <= problem.stages.value_or(problem.layers); ++stages)
      share_out(stages, 0, problem.devices, Time{}, Time{});
  }

  std::optional<Time> least;

 private:
  void share_out(std::uint32_t left, std::uint32_t first, std::uint32_t devices, Time sum, Time longest) {
    if (left == 0) {
      if (first != p_.layers || devices != 0) return;
      const Time all = sum + longest * (p_.micro_batches - 1);
      if (!least || all < *least) least = all;
      return;
    }
    const auto held = static_cast<std::uint32_t>(std::min<std::int64_t>(left, p_.micro_batches));
    for (std::uint32_t count = 1; first + count <= p_.layers; ++count)
      for (std::uint32_t size = 0; size < p_.sizes.size(); ++size)
        if (const auto time = p_.time(first, count, size, held); time && p_.sizes[size] <= devices)
          share_out(left - 1, first + count, devices - p_.sizes[size], sum + *time, std::max(longest, *time));
  }

  const StageProblem& p_;
};

/// Layers of random lengths on meshes that speed them up by random factors; longer stages that hold more may not fit.
struct RandomStages {
  explicit RandomStages(std::uint64_t seed) : random(seed) {
    problem.layers = number(1, 6);
    problem.devices = 1u << number(0, 4);
    for (std::uint32_t size = 1; size <= problem.devices; size *= 2)
      if (number(0, 3) > 0 || size == problem.devices) problem.sizes.push_back(size);
    problem.micro_batches = number(1, 9);
    if (number(0, 3) == 0) problem.stages = number(1, 6);
    for (std::uint32_t layer = 0; layer < problem.layers; ++layer) lengths.push_back(number(1, 50));
    for (const std::uint32_t size : problem.sizes) speeds.push_back(1 + size * number(5, 10) / 10.0);
    room = number(1, 24);
    problem.time = [this](std::uint32_t first, std::uint32_t count, std::uint32_t size,
                          std::uint32_t held) -> std::optional<Time> {
      ++asked;
      if (count * held > room * problem.sizes[size]) return std::nullopt;
      double all = 0;
      for (std::uint32_t layer = first; layer < first + count; ++layer) all += lengths[layer];
      return Time{static_cast<std::int64_t>(all / speeds[size] * (100 + held))};
    };
    problem.bound = [this](std::uint32_t first, std::uint32_t count, std::uint32_t size,
                           std::uint32_t held) -> std::optional<Time> {
      const auto exact = problem.time(first, count, size, held);
      --asked;
      // Of what does not fit, nothing need be known.
      return Time{(exact ? exact->value : 100) * static_cast<std::int64_t>(held + 1) / (held + 2)};
    };
  }
  std::uint32_t number(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random() % (most - least + 1));
  }

  std::mt19937_64 random;
  StageProblem problem;
  std::vector<double> lengths, speeds;
  std::uint32_t room = 1;
  int asked = 0;
};

TEST(StagesOfLayouts, TakeTheLeastTimeOfAllWaysToShareOutLayersAndDevices) {
  int none = 0, several = 0, mixed = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStages random(seed);
    const auto expected = BestOfAllStages(random.problem).least;
    const auto found = best_stages(random.problem);
    ASSERT_EQ(found.has_value(), expected.has_value());
    none += !found;
    if (!found) continue;
    EXPECT_EQ(found->time, *expected);
    several += found->stages.size() > 1;
    std::uint32_t layers = 0, devices = 0;
    Time sum{}, longest{};
    auto left = static_cast<std::uint32_t>(found->stages.size());
    for (const CutStage& stage : found->stages) {
      EXPECT_EQ(stage.first, layers);
      EXPECT_EQ(stage.held, std::min<std::int64_t>(left--, random.problem.micro_batches));
      EXPECT_EQ(stage.time, random.problem.time(stage.first, stage.count, stage.size, stage.held));
      layers += stage.count;
      devices += random.problem.sizes[stage.size];
      sum += stage.time;
      longest = std::max(longest, stage.time);
    }
    mixed += devices != random.problem.sizes[found->stages.front().size] * found->stages.size();
    EXPECT_EQ(layers, random.problem.layers);
    EXPECT_EQ(devices, random.problem.devices);
    EXPECT_EQ(found->time, sum + longest * (random.problem.micro_batches - 1));
  }
  EXPECT_GT(none, 100);
  EXPECT_GT(several, 300);
  EXPECT_GT(mixed, 100);
}

TEST(StagesOfLayouts, AskForTheTimeOfFewStages) {
  RandomStages random(7);
  random.problem = {.layers = 12,
                    .devices = 16,
                    .sizes = {1, 2, 4, 8, 16},
                    .micro_batches = 32,
                    .bound = random.problem.bound,
                    .time = random.problem.time};
  random.lengths.assign(12, 10);
  random.speeds = {1, 1.9, 3.5, 6, 10};
  random.room = 1000;
  random.asked = 0;
  ASSERT_TRUE(best_stages(random.problem));
  const int stages_that_can_be = 12 * 13 / 2 * 5;
  EXPECT_GT(random.asked, 0);
  EXPECT_LT(random.asked, stages_that_can_be);
}

}  // namespace
}  // namespace stepcast::search
