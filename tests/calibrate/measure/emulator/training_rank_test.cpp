#include "calibrate/measure/step/training_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <thread>

#include "tests/sanitized.h"
#include "thread_peers.h"

namespace stepcast::measure {
namespace {

/// The whole tensors of the model, by name, and the mean loss.
struct Outcome {
  std::map<std::string, std::vector<double>> values, gradients;
  double loss = 0;
};

template <class T>
void put(const std::vector<T>& flat, const ParameterPart& part, std::vector<double>& whole) {
  const auto columns = static_cast<std::size_t>(part.columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(part.rows * part.columns); ++i) {
    const auto at =
        static_cast<std::size_t>((part.first_row + static_cast<std::int64_t>(i / columns)) * part.whole_columns +
                                 part.first_column) +
        i % columns;
    if (whole.size() <= at) whole.resize(at + 1);
    whole[at] = static_cast<double>(to_float(flat[static_cast<std::size_t>(part.offset) + i]));
  }
}

/// Two steps, each rank a thread; with a rehearsal before them, all of the memory that they need is asked for in it.
Outcome run(const StepCase& step, bool rehearsed = false) {
  EXPECT_EQ(fault(step), "");
  const TrainingConstants training{.deviation = 0.1f, .dropout = 0.1f, .adam = {.rate = 0.01f}, .host_threads = 2};
  ThreadRanks ranks(step);
  std::vector<std::unique_ptr<TrainingRank>> of(static_cast<std::size_t>(step.gpus()));
  std::vector<std::exception_ptr> problems(of.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < of.size(); ++r) {
    threads.emplace_back([&, r] {
      try {
        of[r] = std::make_unique<TrainingRank>(step, training, static_cast<int>(r), ranks.peers(static_cast<int>(r)));
        if (rehearsed) of[r]->rehearse();
        const std::int64_t reserved = of[r]->reserved_bytes();
        for (int i = 0; i < 2; ++i) of[r]->run();
        EXPECT_EQ(of[r]->reserved_bytes() == reserved, rehearsed);
      } catch (...) {
        problems[r] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  Outcome outcome;
  for (std::size_t r = 0; r < of.size(); ++r) {
    const std::vector<bf16> values = of[r]->values();
    const std::vector<float> gradients = of[r]->gradients();
    for (const ParameterPart& part : of[r]->parameters().parts) {
      put(values, part, outcome.values[part.name]);
      put(gradients, part, outcome.gradients[part.name]);
    }
    const StepRank at = step_rank(step, static_cast<int>(r));
    if (at.stage + 1 == step.pipeline && at.tensor == 0) outcome.loss += of[r]->loss() / step.data;
  }
  return outcome;
}

StepCase tiny() {
  StepCase step{.layers = 2, .hidden = 128, .heads = 2, .vocab = 96, .sequence = 8};
  step.micro_batches = 2;
  return step;
}

/// Largest distance of any tensor's gradient, in lengths of that gradient, or of a fiftieth of a mean one.
double distance(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.gradients.size(), b.gradients.size());
  double all = 0;
  for (const auto& [name, x] : b.gradients) {
    for (const double g : x) all += g * g;
  }
  const double floor = 0.02 * std::sqrt(all / static_cast<double>(b.gradients.size()));
  double worst = 0;
  for (const auto& [name, x] : a.gradients) {
    const std::vector<double>& y = b.gradients.at(name);
    EXPECT_EQ(x.size(), y.size()) << name;
    double apart = 0, length = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      apart += (x[i] - y[i]) * (x[i] - y[i]);
      length += y[i] * y[i];
    }
    worst = std::max(worst, std::sqrt(apart) / (std::sqrt(length) + floor));
  }
  return worst;
}

void expect_equal(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.gradients, b.gradients);
}

TEST(TrainingRank, RecomputationChangesNothing) {
  const Outcome whole = run(tiny());
  StepCase step = tiny();
  for (const StepRecompute recompute : {StepRecompute::selective, StepRecompute::full}) {
    step.recompute = recompute;
    expect_equal(run(step), whole);
  }
}

TEST(TrainingRank, RecomputationHoldsLess) {
  if (test::kSanitized) GTEST_SKIP() << "sizes: the test above goes the same ways with fewer";
  StepCase step = tiny();
  step.layers = 4, step.micro_batch = 8, step.micro_batches = 1;
  const auto peak = [&](StepRecompute recompute) {
    step.recompute = recompute;
    ThreadRanks ranks(step);
    TrainingRank rank(step, TrainingConstants{}, 0, ranks.peers(0));
    rank.run();
    const std::int64_t first = rank.peak_bytes();
    rank.run();
    EXPECT_EQ(rank.peak_bytes(), first);  // no step needs more than the first
    return first;
  };
  const std::int64_t rows = std::int64_t{step.micro_batch} * step.sequence;
  // Three layers' activations but their inputs: 8 h + 24 h bytes a row (Korthikanti et al. 2022, table 2, less 2 h),
  // and what statistics and blocks of 512 bytes add.
  const std::int64_t none = peak(StepRecompute::none);
  const auto saved = static_cast<double>(none - peak(StepRecompute::full));
  EXPECT_NEAR(saved, 3.0 * 32 * step.hidden * static_cast<double>(rows), 0.1 * saved);
  // The core is fused: of each of the four layers a float a row and head, here one block of 512 bytes.
  EXPECT_EQ(none - peak(StepRecompute::selective), step.layers * step.heads * rows * 4);
}

TEST(TrainingRank, OffloadedStateUpdatesAlike) {
  StepCase step = tiny();
  const Outcome on_gpu = run(step);
  step.offload = true;
  const Outcome on_host = run(step);  // gradients go there as bf16, one part in 256
  EXPECT_NEAR(on_host.loss, on_gpu.loss, 1e-2);
  EXPECT_LT(distance(on_host, on_gpu), 0.1);
}

TEST(TrainingRank, StagesComputeTheSame) {
  const Outcome whole = run(tiny());
  StepCase step = tiny();
  step.pipeline = 2;
  const Outcome split = run(step);
  EXPECT_NEAR(split.loss, whole.loss, 1e-6);
  EXPECT_LT(distance(split, whole), 1e-4);
}

TEST(TrainingRank, DataRanksComputeTheSame) {
  const Outcome whole = run(tiny());
  StepCase step = tiny();
  step.data = 2, step.micro_batches = 1;
  const Outcome split = run(step);
  EXPECT_NEAR(split.loss, whole.loss, 1e-6);
  EXPECT_LT(distance(split, whole), 0.02);  // Adam's first step makes a whole move of a gradient that is rounding alone
}

TEST(TrainingRank, TensorRanksComputeTheSameButForRounding) {
  const Outcome whole = run(tiny());
  StepCase step = tiny();
  step.tensor = 2;
  const Outcome split = run(step);
  EXPECT_NEAR(split.loss, whole.loss, 1e-2);
  EXPECT_LT(distance(split, whole), 0.1);
}

TEST(TrainingRank, ARehearsalChangesNothingAndLeavesNothingToAskFor) {
  StepCase alone = tiny(), split = tiny();
  alone.offload = true;
  split.tensor = split.data = split.pipeline = 2;
  split.recompute = StepRecompute::full;
  for (const StepCase& step : {alone, split}) expect_equal(run(step, true), run(step));
}

TEST(TrainingRank, AllSplitsTogether) {
  const Outcome whole = run(tiny());
  StepCase step = tiny();
  step.tensor = step.data = step.pipeline = 2;
  step.micro_batches = 1;
  for (const StepRecompute recompute : {StepRecompute::none, StepRecompute::selective, StepRecompute::full}) {
    step.recompute = recompute;
    const Outcome split = run(step);
    EXPECT_NEAR(split.loss, whole.loss, 1e-2);
    EXPECT_LT(distance(split, whole), 0.1);
  }
}

}  // namespace
}  // namespace stepcast::measure
