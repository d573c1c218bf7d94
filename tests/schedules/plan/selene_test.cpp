#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Korthikanti et al. 2022 (arXiv 2205.05198), figures 1 and 7 on Selene, as tabled by calculon-ai/calculon
/// (calculon/llm/validation.py): GiB of state and of activations, and activations as a share of those without
/// recomputation, for none with sequence parallelism, selective, selective with it, and full.
struct Row {
  const char* model;
  std::int64_t layers, hidden, heads, micro_batch;
  std::uint32_t pipeline, virtual_stages;
  double state, none, selective_sequence;
  double share_sequence, share_selective, share_selective_sequence, share_full;
};

constexpr Row kRows[] = {
    {"22B", 48, 6144, 64, 4, 1, 1, 45.5625, 59.25, 9.5625, 66.84, 49.42, 16.18, 7.64},
    {"175B", 96, 12288, 96, 1, 8, 3, 45.5625, 66.84375, 12.3515625, 62.04, 56.53, 18.49, 8.71},
    {"530B", 105, 20480, 128, 1, 35, 3, 31.640625, 114.0234375, 23.076171875, 58.31, 62.04, 20.27, 9.42},
    {"1T", 128, 25600, 160, 1, 64, 1, 32.958984375, 131.25, 26.5625, 58.31, 62.04, 20.27, 9.42},
};

constexpr double kGiB = 1024.0 * 1024 * 1024;

Forecast run(const Row& row, Recompute recompute, bool sequence) {
  Scenario s = round_numbers(8 * row.pipeline);
  s.model = {row.model, Family::gpt, row.layers, row.hidden, row.heads, row.heads, 4 * row.hidden, 51200, ""};
  s.training = {.global_batch = 4 * row.micro_batch * row.pipeline,
                .micro_batch = row.micro_batch,
                .sequence = 2048,
                .precision = Precision::fp16};
  s.parallelism = {.tensor = 8, .pipeline = row.pipeline, .sequence = sequence};
  s.pipeline.schedule = row.virtual_stages > 1 ? "interleaved-1f1b" : "1f1b";
  s.pipeline.virtual_stages = row.virtual_stages;
  s.recompute = recompute;
  Forecast f = forecast(s);
  // The figures count what is saved between the passes, not what a pass works on.
  const Blocks model = blocks(s);
  double working = model.kinds[1].working;
  if (row.pipeline == 1) working = std::max(working, model.kinds[2].working);
  f.stages.front().memory.activations = {f.stages.front().memory.activations.value -
                                         static_cast<std::int64_t>(working)};
  return f;
}

double activations(const Forecast& f) { return static_cast<double>(f.stages.front().memory.activations.value) / kGiB; }

/// Of a stage without embedding and head, which the figure leaves out; of the only stage where there is one.
double state(const Forecast& f) {
  const MemoryUse& use = f.stages[f.stages.size() / 2].memory;
  return static_cast<double>((use.parameters + use.gradients + use.optimizer).value) / kGiB;
}

TEST(Selene, StateAndActivationsAreWithinThreePercentOfThePublishedOnes) {
  std::vector<double> errors;
  const auto compare = [&](const Row& row, const char* what, double predicted, double published) {
    errors.push_back(std::abs(predicted / published - 1));
    std::printf("%-5s %-40s %8.2f %8.2f %+6.1f%%\n", row.model, what, published, predicted,
                100 * (predicted / published - 1));
  };
  for (const Row& row : kRows) {
    const Forecast none = run(row, Recompute::none, false), both = run(row, Recompute::selective, true);
    compare(row, "state, GiB", state(none), row.state);
    compare(row, "activations, GiB", activations(none), row.none);
    compare(row, "activations, selective, sequence, GiB", activations(both), row.selective_sequence);
    const auto share = [&](const Forecast& f) { return 100 * activations(f) / activations(none); };
    compare(row, "sequence, % of none", share(run(row, Recompute::none, true)), row.share_sequence);
    compare(row, "selective, % of none", share(run(row, Recompute::selective, false)), row.share_selective);
    compare(row, "selective, sequence, % of none", share(both), row.share_selective_sequence);
    compare(row, "full, % of none", share(run(row, Recompute::full, false)), row.share_full);
  }
  double sum = 0;
  for (const double error : errors) sum += error;
  EXPECT_LE(sum / static_cast<double>(errors.size()), 0.03);
  // The worst: full recomputation of 530B and 1T, whose first stage keeps the embedding's dropout mask beside 3 and 2
  // layers.
  EXPECT_LE(*std::ranges::max_element(errors), 0.25);
}

}  // namespace
}  // namespace stepcast::schedules
