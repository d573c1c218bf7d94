// Figures in a wrong unit, of runs whose forecasts stand for measurements.

#include "calibrate/fit/doubtful_figures.h"

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "tests/schedules/scenarios.h"
#include "workload/machines.h"

namespace stepcast::calibrate {
namespace {

using schedules::Scenario;

constexpr std::uint32_t kGpus = 8;

/// Three plans whose steps take `times` what is forecast.
std::vector<Scenario> runs(double times) {
  std::vector<Scenario> out;
  workload::Machines machines;
  for (const std::int64_t hidden : {2048, 4096, 8192}) {
    Scenario s = schedules::round_numbers(kGpus);
    s.model.hidden = hidden;
    s.model.ffn = 4 * hidden;
    s.parallelism.data = kGpus;
    s.measured.step_time = from_seconds(times * to_seconds(schedules::forecast(s, machines).step));
    s.measured.peak_memory = schedules::plan(s, machines).memory.front().peak();
    out.push_back(s);
  }
  return out;
}

std::vector<Doubt> doubts(const std::vector<Scenario>& runs) {
  std::vector<Doubt> out;
  for (const DoubtfulFigure& figure : doubtful_figures(runs)) out.push_back(figure.doubt);
  return out;
}

TEST(DoubtfulFigures, AreNoneOfRunsAsForecastOrSomeTimesSlower) {
  for (const double times : {0.8, 1.0, 4.0, 30.0}) EXPECT_TRUE(doubts(runs(times)).empty()) << times;
}

TEST(DoubtfulFigures, AreStepsFasterThanThePeak) {
  const std::vector<Scenario> all = runs(1e-3);
  const std::vector<DoubtfulFigure> figures = doubtful_figures(all);
  ASSERT_EQ(figures.size(), all.size());
  for (const DoubtfulFigure& figure : figures) {
    EXPECT_EQ(figure.doubt, Doubt::faster_than_peak);
    EXPECT_TRUE(is_impossible(figure.doubt));
    EXPECT_DOUBLE_EQ(figure.measured, to_seconds(*all[figure.run].measured.step_time));
    EXPECT_GT(figure.beside, figure.measured);
    EXPECT_LT(figure.beside, 1e3 * figure.measured) << "no more than what is forecast";
  }
}

TEST(DoubtfulFigures, AreStepsFarBelowThePeak) {
  EXPECT_EQ(doubts(runs(1e3)), std::vector(3, Doubt::far_slower));
  std::vector<Scenario> small = runs(1);
  for (Scenario& s : small) {
    s.model.layers = 1;
    s.model.hidden = s.model.ffn = 16;
    s.training.sequence = 16;
    s.software.host_per_step = from_seconds(1);
    s.measured.step_time = from_seconds(1);
  }
  EXPECT_TRUE(doubts(small).empty()) << "their host is as slow in the forecast";
}

TEST(DoubtfulFigures, AreStepsThatAllTakeAsManyTimesTheForecastAsThereAreGpus) {
  std::vector<Scenario> all = runs(kGpus);
  EXPECT_EQ(doubts(all), std::vector(3, Doubt::per_gpu));
  all.back().measured.step_time = runs(1).back().measured.step_time;
  EXPECT_TRUE(doubts(all).empty()) << "one is as forecast";
  all.resize(1);
  EXPECT_TRUE(doubts(all).empty()) << "one run may be slow for reasons of its own";
}

TEST(DoubtfulFigures, AreMemoryThatNoGpuHasAndLessThanTheState) {
  std::vector<Scenario> all = runs(1);
  all[0].measured.peak_memory = *all[0].measured.peak_memory * 1000;
  all[1].measured.peak_memory = Bytes{all[1].measured.peak_memory->value / 1000};
  const std::vector<DoubtfulFigure> figures = doubtful_figures(all);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].doubt, Doubt::beyond_gpu_memory);
  EXPECT_EQ(figures[0].run, 0u);
  EXPECT_EQ(figures[0].beside, static_cast<double>(all[0].cluster.gpu.memory.value));
  EXPECT_EQ(figures[1].doubt, Doubt::below_state);
  EXPECT_EQ(figures[1].run, 1u);
}

}  // namespace
}  // namespace stepcast::calibrate
