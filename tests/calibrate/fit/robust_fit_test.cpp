#include "calibrate/fit/robust_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace stepcast::calibrate {
namespace {

/// t = latency + size / rate over 1 kB to 1 GB.
struct Line {
  double latency = 6e-6, rate = 40e9;
  std::vector<double> sizes, measured;
  std::vector<std::size_t> groups;

  Line(unsigned seed, double noise, double largest = 1e9) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (double size = 1e3; size <= largest; size *= 1.5) {
      sizes.push_back(size);
      measured.push_back((latency + size / rate) * std::exp(noise * normal(random)));
    }
    groups.resize(sizes.size());
    std::iota(groups.begin(), groups.end(), std::size_t{0});
  }
  RobustFit fit() const {
    const std::vector<Free> constants{{"latency", 1e-7, 1e-2, 1e-5, true}, {"rate", 1e7, 1e13, 2e10, true}};
    return fit_robust(measured, groups, constants,
                      [&](const std::vector<double>& c, std::size_t i) { return c[0] + sizes[i] / c[1]; });
  }
};

bool holds(const Estimate& estimate, double value) { return estimate.low <= value && value <= estimate.high; }

TEST(RobustFit, FindsTheConstantsOfExactTimes) {
  const RobustFit fit = Line(1, 0).fit();
  EXPECT_NEAR(fit.constants[0].value, 6e-6, 6e-12);
  EXPECT_NEAR(fit.constants[1].value, 40e9, 40e3);
  EXPECT_LT(median_absolute(fit.held_out), 1e-6);
}

TEST(RobustFit, IntervalsHoldPlantedConstantsInSome95OfEvery100Runs) {
  int latency = 0, rate = 0;
  constexpr int kRuns = 400;
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    const RobustFit fit = Line(seed, 0.03).fit();
    latency += holds(fit.constants[0], 6e-6);
    rate += holds(fit.constants[1], 40e9);
  }
  // 400 draws of 95 % stay within these 99.9 % of the time.
  EXPECT_GE(latency, 363);
  EXPECT_LE(latency, 395);
  EXPECT_GE(rate, 363);
  EXPECT_LE(rate, 395);
}

TEST(RobustFit, OddMeasurementsDragTheRestLittle) {
  Line line(3, 0.005);
  for (std::size_t i = 0; i < line.measured.size(); i += 9) line.measured[i] *= 3;
  const RobustFit fit = line.fit();
  EXPECT_NEAR(fit.constants[0].value / 6e-6, 1, 0.03);
  EXPECT_NEAR(fit.constants[1].value / 40e9, 1, 0.03);
}

TEST(RobustFit, AConstantThatNothingDependsOnKeepsItsStartAndSaysSo) {
  // So small that no size is felt: only the latency is there.
  const RobustFit small = Line(1, 0.02, 1.2e3).fit();
  EXPECT_FALSE(small.constants[1].identified);
  EXPECT_EQ(small.constants[1].value, 2e10);
  EXPECT_EQ(small.constants[1].why, "only 1 measurement depends on it");

  const Line line(1, 0.02);
  const std::vector<Free> constants{
      {"latency", 1e-7, 1e-2, 1e-5, true}, {"rate", 1e7, 1e13, 2e10, true}, {"idle", 0, 1, 0.3, false}};
  const RobustFit fit =
      fit_robust(line.measured, line.groups, constants,
                 [&](const std::vector<double>& c, std::size_t i) { return c[0] + line.sizes[i] / c[1] + 0 * c[2]; });
  EXPECT_FALSE(fit.constants[2].identified);
  EXPECT_EQ(fit.constants[2].value, 0.3);
  EXPECT_EQ(fit.constants[2].why, "no measurement depends on it");
  EXPECT_TRUE(fit.constants[0].identified);
}

// With three samples it makes the difference of Student's t of one degree of freedom and of two: 12.7 and 4.3.
TEST(RobustFit, AConstantThatNothingDependsOnMakesNoIntervalWider) {
  const std::vector<double> measured{1.01, 2.02, 2.97};
  const std::vector<std::size_t> groups{0, 1, 2};
  const auto interval = [&](bool idle) {
    std::vector<Free> constants{{"slope", 0, 10, 1.5, false, 4, 1.0}};
    if (idle) constants.push_back({"idle", 0, 1, 0.3, false, 4, 0.1});
    const Estimate slope = fit_robust(measured, groups, constants, [](const std::vector<double>& c, std::size_t i) {
                             return c[0] * static_cast<double>(i + 1);
                           }).constants[0];
    EXPECT_TRUE(slope.identified) << slope.why;
    return slope.high - slope.low;
  };
  EXPECT_NEAR(interval(true) / interval(false), 1, 1e-3);
}

/// max(work, host): from a host that no sample feels nothing leads to the one that half of them wait for.
TEST(RobustFit, StartsWhereItIsToldToAlsoForConstantsThatItTriesValuesOf) {
  const auto predict = [](const std::vector<double>& c, std::size_t i) {
    return std::max(static_cast<double>(i + 1), 10 * c[0]);
  };
  std::vector<double> measured;
  for (std::size_t i = 0; i < 8; ++i) measured.push_back(predict({0.45}, i));
  std::vector<std::size_t> groups(8);
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  Free host{"host", 1e-3, 10, 0.01, true};
  host.tried = {0.02, 10.0};
  const std::vector<Free> constants{host};
  const RobustFit fit = fit_robust(measured, groups, constants, predict, std::vector<std::vector<double>>{{1.0}},
                                   {0.15, Beyond::logarithm_if_held_up});
  EXPECT_NEAR(fit.constants[0].value, 0.45, 0.01);
}

TEST(RobustFit, OfTwoConstantsThatMakeUpForEachOtherOneIsNotTold) {
  const Line line(1, 0.02);
  const std::vector<Free> constants{
      {"latency", 1e-7, 1e-2, 1e-5, true}, {"rate", 1e7, 1e13, 1e11, true}, {"share", 0.01, 1, 0.5, false}};
  const RobustFit fit =
      fit_robust(line.measured, line.groups, constants,
                 [&](const std::vector<double>& c, std::size_t i) { return c[0] + line.sizes[i] / (c[1] * c[2]); });
  EXPECT_NE(fit.constants[1].identified, fit.constants[2].identified);
  EXPECT_NEAR(fit.constants[1].value * fit.constants[2].value / 40e9, 1, 0.05);
}

TEST(RobustFit, HeldOutErrorsAreThoseOfFitsThatDidNotSeeTheSample) {
  Line line(5, 0.01);
  line.measured[20] *= 1.02;
  const RobustFit fit = line.fit();
  EXPECT_NE(fit.held_out[20], fit.errors[20]);
  EXPECT_LT(fit.held_out[20], fit.errors[20] + 1e-3);  // the sample pulled the fit up to itself
}

TEST(RobustFit, FewSamplesMoveAConstantThatIsKnownLittleAndManyMoveItToWhereTheySay) {
  const auto latency = [](double largest) {
    const Line line(1, 0.02, largest);
    const std::vector<Free> constants{{"latency", 1e-7, 1e-2, 1e-5, true, 4, 0.01},
                                      {"rate", 1e7, 1e13, 2e10, true, 4, 1.0}};
    return fit_robust(line.measured, line.groups, constants,
                      [&](const std::vector<double>& c, std::size_t i) { return c[0] + line.sizes[i] / c[1]; })
        .constants[0]
        .value;
  };
  EXPECT_NEAR(latency(1.2e3), 1e-5, 1e-7) << "one sample";
  EXPECT_NEAR(latency(1e9), 6e-6, 3e-7) << "it is 50 standard deviations off";
}

TEST(RobustFit, HasNoUseForErrorsOfAnySizeWhereTheyCountByTheirLogarithm) {
  Line line(3, 0.005);
  for (std::size_t i = 0; i < line.measured.size(); i += 4) line.measured[i] *= 100;
  const std::vector<Free> constants{{"latency", 1e-7, 1e-2, 1e-5, true}, {"rate", 1e7, 1e13, 2e10, true}};
  const RobustFit fit =
      fit_robust(line.measured, line.groups, constants,
                 [&](const std::vector<double>& c, std::size_t i) { return c[0] + line.sizes[i] / c[1]; }, {},
                 {0.05, Beyond::logarithm});
  EXPECT_NEAR(fit.constants[0].value / 6e-6, 1, 0.02);
  EXPECT_NEAR(fit.constants[1].value / 40e9, 1, 0.02);
}

// A fifth of the samples took five times as long, and the others say what a constant is; of a fifth that took a fifth
// of the time most must be right, for nothing makes a run faster than it can be.
TEST(RobustFit, BelievesSamplesThatTookLessMoreThanThoseThatWereHeldUp) {
  const auto rate = [](double times, Beyond beyond) {
    Line line(3, 0.01);
    for (std::size_t i = 0; i < line.measured.size(); i += 5) line.measured[i] *= times;
    const std::vector<Free> constants{{"rate", 1e7, 1e13, 2e10, true}};
    return fit_robust(line.measured, line.groups, constants,
                      [&](const std::vector<double>& c, std::size_t i) { return 6e-6 + line.sizes[i] / c[0]; }, {},
                      {0.05, beyond})
        .constants[0]
        .value;
  };
  EXPECT_NEAR(rate(5, Beyond::logarithm_if_held_up) / 40e9, 1, 0.02);
  EXPECT_GT(rate(0.2, Beyond::logarithm_if_held_up), 1.02 * rate(0.2, Beyond::logarithm));
}

/// What is ten times as long from a size on that is one of three.
TEST(RobustFit, ChoosesAmongValuesOfAConstantThatTakesNoOthers) {
  const Line line(1, 0.01);
  std::vector<double> measured = line.measured;
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (line.sizes[i] >= 1e6) measured[i] *= 10;
  Free from{"from", 1, 1e12, 1e9};
  from.tried = {1e9, 1e6, 1e5};
  from.whole = true;
  const std::vector<Free> constants{{"latency", 1e-7, 1e-2, 1e-5, true}, {"rate", 1e7, 1e13, 3e10, true}, from};
  const RobustFit fit = fit_robust(measured, line.groups, constants, [&](const std::vector<double>& c, std::size_t i) {
    return (c[0] + line.sizes[i] / c[1]) * (line.sizes[i] >= c[2] ? 10 : 1);
  });
  EXPECT_EQ(fit.constants[2].value, 1e6);
  EXPECT_NEAR(fit.constants[1].value / 40e9, 1, 0.02);
}

/// Of 35 samples the longest few took ten times as long: three may have been held up, eight were not.
TEST(RobustFit, ChoosesNothingForATenthOfTheSamplesThatMayHaveBeenHeldUp) {
  const auto from = [](std::size_t held_up) {
    const Line line(1, 0.01);
    std::vector<double> measured = line.measured;
    const std::size_t first = measured.size() - held_up;
    for (std::size_t i = first; i < measured.size(); ++i) measured[i] *= 10;
    Free least{"from", 1, 1e12, 1e11};
    least.tried = {line.sizes[first]};
    least.whole = true;
    const std::vector<Free> constants{{"rate", 1e7, 1e13, 3e10, true}, least};
    return fit_robust(measured, line.groups, constants,
                      [&](const std::vector<double>& c, std::size_t i) {
                        return (6e-6 + line.sizes[i] / c[0]) * (line.sizes[i] >= c[1] ? 10 : 1);
                      })
        .constants[1]
        .value;
  };
  EXPECT_EQ(from(3), 1e11);
  EXPECT_LT(from(8), 1e9);
}

/// Four samples that agree on little but that a constant is far from what was known of it.
/// 24 runs, of which every fourth has a cause more, of `delay`; the first of those was held up, so many times longer.
RobustFit fit_with_added_cause(double delay, double held_up) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> work, measured;
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < 24; ++i) {
    work.push_back(1 + static_cast<double>(i % 7));
    measured.push_back((work[i] / 0.8 + (i % 4 == 0 ? delay : 0)) * std::exp(0.03 * normal(random)));
    groups.push_back(i);
  }
  measured[0] *= held_up;
  std::vector<Free> constants{{"share", 0.3, 1.0001, 0.9, false}, {"delay", 1e-6, 100, 1.001e-6, true, 10}};
  constants[1].tried = {0.1, 1, 10};
  constants[1].added = true;
  return fit_robust(
      measured, groups, constants,
      [&](const std::vector<double>& c, std::size_t i) { return work[i] / c[0] + (i % 4 == 0 ? c[1] : 0); }, {},
      {0.15, Beyond::logarithm_if_held_up});
}

TEST(RobustFit, AddsACauseThatSeveralSamplesHave) {
  const RobustFit fit = fit_with_added_cause(3, 1);
  EXPECT_TRUE(fit.constants[1].identified) << fit.constants[1].why;
  EXPECT_NEAR(fit.constants[1].value / 3, 1, 0.15);
}

TEST(RobustFit, AddsNoCauseForOneSampleThatWasHeldUp) {
  const RobustFit fit = fit_with_added_cause(0, 5);
  EXPECT_FALSE(fit.constants[1].identified) << fit.constants[1].value;
  EXPECT_NEAR(fit.constants[0].value, 0.8, 0.03);
  EXPECT_NEAR(fit.held_out[0], -0.8, 0.05) << "a fit without it knows of no cause";
}

/// A cause that one sample alone has, which was held up: a fit without that sample has it at its start.
TEST(RobustFit, HeldOutErrorsAreOfFitsThatDoNotKnowWhatTheSampleAloneTells) {
  const std::vector<double> measured{1.25, 2.5, 3.75, 5, 6.25, 7.5, 8.75, 10, 12.5, 40};
  const std::vector<std::size_t> groups{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<Free> constants{{"share", 0.3, 1.0001, 0.9, false}, {"delay", 1e-6, 100, 1.001e-6, true, 10}};
  constants[1].tried = {0.1, 1, 10};
  const RobustFit fit = fit_robust(measured, groups, constants, [](const std::vector<double>& c, std::size_t i) {
    return (i == 8 ? 10 : static_cast<double>(i + 1)) / c[0] + (i == 9 ? c[1] : 0);
  });
  EXPECT_NEAR(fit.errors[9], 0, 0.01) << "nothing says that it is not a cause";
  EXPECT_NEAR(fit.held_out[9], 12.5 / 40 - 1, 0.02);
}

TEST(RobustFit, KeepsWhatIsFarFromWhatWasKnownThoughItsIntervalIsWide) {
  const auto scale = [](double times) {
    const std::vector<double> measured{0.5 * times, times, 1.3 * times, 2 * times};
    const std::vector<std::size_t> groups{0, 1, 2, 3};
    const std::vector<Free> constants{{"scale", 0.01, 100, 1, true, 4, 0.3}};
    return fit_robust(measured, groups, constants, [](const std::vector<double>& c, std::size_t) { return c[0]; }, {},
                      {0.15})
        .constants[0];
  };
  EXPECT_TRUE(scale(3).identified) << scale(3).why;
  EXPECT_NEAR(scale(3).value, 3, 0.7);
  EXPECT_FALSE(scale(1.05).identified);
  EXPECT_EQ(scale(1.05).value, 1);
}

}  // namespace
}  // namespace stepcast::calibrate
