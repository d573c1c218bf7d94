#include "calibrate/confidence/explain.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "calibrate/confidence/neighbours.h"
#include "schedules/forecast.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::calibrate {
namespace {

using schedules::round_numbers;
using schedules::Scenario;

Scenario plan(std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t data, std::int64_t micro_batch) {
  Scenario s = round_numbers(tensor * pipeline * data);
  s.parallelism.tensor = tensor;
  s.parallelism.pipeline = pipeline;
  s.parallelism.data = data;
  s.training.micro_batch = micro_batch;
  s.software.elementwise_efficiency = 0.75;
  s.software.kernel_gap = microseconds(2);
  s.software.data_overlap = false;
  s.software.name = "stack";
  return s;
}

/// Runs measured on a machine that is exactly as modelled but for what `wrong` does to our model of it.
std::vector<Scenario> runs(const std::function<void(Scenario&)>& wrong) {
  std::vector<Scenario> out;
  for (const Scenario& s : {plan(8, 1, 2, 1), plan(2, 1, 4, 4), plan(1, 4, 2, 2), plan(4, 2, 2, 1), plan(1, 1, 8, 2),
                            plan(2, 4, 1, 4), plan(1, 1, 1, 1)}) {
    Scenario& measured = out.emplace_back(s);
    measured.measured.step_time = schedules::forecast(s).step;
    wrong(measured);
  }
  return out;
}

Explanation explained(const std::vector<Scenario>& all) {
  std::vector<const Scenario*> others;
  for (std::size_t i = 1; i < all.size(); ++i) others.push_back(&all[i]);
  return explain(all.front(), others);
}

/// Each constant is the one that its term names, in a model right in all else.
TEST(Explain, NamesTheConstantThatWasPlanted) {
  LEFT_TO_RELEASE();
  struct Planted {
    const char* term;
    double factor;  ///< on the term's time that undoes it
    std::function<void(Scenario&)> wrong;
  };
  for (const Planted& p : {
           Planted{"matrix multiplies", 1.1,
                   [](Scenario& s) {
                     s.cluster.gpu.gemm.mainloop *= 1.1;
                     s.cluster.gpu.gemm.sustained *= 1.1;
                   }},
           Planted{"memory-bound kernels", 0.8, [](Scenario& s) { s.software.elementwise_efficiency *= 0.8; }},
           Planted{"launches and gaps", 2, [](Scenario& s) { s.software.kernel_gap = microseconds(1); }},
           Planted{"collectives inside layers", 1.4, [](Scenario& s) { s.traffic_scale.layers = 1 / 1.4; }},
           Planted{"gradients and parameters on the wire", 0.7, [](Scenario& s) { s.traffic_scale.data = 1 / 0.7; }},
           Planted{"optimizer", 0.6, [](Scenario& s) { s.software.optimizer_bytes_per_parameter /= 0.6; }},
       }) {
    const Explanation e = explained(runs(p.wrong));
    ASSERT_TRUE(e.suspect) << p.term << ": " << e.verdict;
    EXPECT_EQ(*e.suspect, p.term) << e.verdict;
    ASSERT_TRUE(e.terms.front().factor);
    EXPECT_NEAR(*e.terms.front().factor, p.factor, 0.01 * p.factor) << p.term;
    EXPECT_LT(*e.terms.front().neighbours, 1e-3) << p.term;
    EXPECT_GT(*e.neighbours_error, 1e-3) << p.term;
  }
}

TEST(Explain, BlamesNoTermForWhatIsWrongWithTheRowAlone) {
  std::vector<Scenario> all = runs([](Scenario&) {});
  all.front().measured.step_time = from_seconds(1.06 * to_seconds(*all.front().measured.step_time));
  EXPECT_FALSE(explained(all).suspect);
  all.front().measured.step_time = from_seconds(3 * to_seconds(*all.front().measured.step_time));
  const Explanation far = explained(all);
  EXPECT_FALSE(far.suspect);
  EXPECT_TRUE(far.verdict.starts_with("no term alone: each would have to be further off")) << far.verdict;
}

TEST(Explain, PhasesAddUpToTheGap) {
  std::vector<Scenario> all = runs([](Scenario&) {});
  Scenario& row = all.front();
  const schedules::Forecast f = schedules::forecast(row);
  row.measured.step_time = from_seconds(1.2 * to_seconds(f.step));
  row.measured.phases = {{"layer_forward", *f.layer_forward},
                         {"layer_backward", from_seconds(1.1 * to_seconds(*f.layer_backward))}};
  const Explanation e = explained(all);
  ASSERT_EQ(e.phases.size(), 3u);
  EXPECT_EQ(e.phases[1].gap_s, 0);
  // 64 samples over two data ranks, 16 layers.
  EXPECT_NEAR(e.phases[0].gap_s, 0.1 * to_seconds(*f.layer_backward) * 32 * 16, 1e-9);
  const double sum = std::accumulate(e.phases.begin(), e.phases.end(), 0.0,
                                     [](double all_before, const PhaseGap& p) { return all_before + p.gap_s; });
  EXPECT_NEAR(sum, to_seconds(e.measured) - to_seconds(e.predicted), 1e-12);
}

TEST(Neighbours, AreOfTheSameGpuAndSoftwareTheMostAlikeFirst) {
  const Scenario row = plan(2, 1, 4, 4), near = plan(2, 1, 4, 2), far = plan(8, 4, 4, 4);
  Scenario other = row;
  other.software.name = "another";
  const std::vector<const Scenario*> others{&far, &other, &near};
  EXPECT_EQ(neighbours(row, others, 5), (std::vector<const Scenario*>{&near, &far}));
  EXPECT_EQ(neighbours(row, others, 1), (std::vector<const Scenario*>{&near}));
}

}  // namespace
}  // namespace stepcast::calibrate
