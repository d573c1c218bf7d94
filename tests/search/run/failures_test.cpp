// Expected times of runs that fail: closed forms, limits, minima, and runs whose failures are drawn.

#include "search/run/failures.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "search/run/simulated_failures.h"
#include "sim/input_error.h"
#include "tests/sanitized.h"

namespace stepcast::search {
namespace {

FailureModel model_of(double mean, double copy, double write, double restart) {
  return {seconds(mean), seconds(copy), seconds(write), seconds(restart)};
}

FailureModel random_model(std::mt19937_64& random, bool with_write) {
  const auto draw = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  const double mean = draw(600, 1e6);
  return model_of(mean, draw(mean * 1e-5, mean * 0.2), with_write ? draw(mean * 1e-5, mean * 0.2) : 0,
                  draw(1, mean * 0.3));
}

TEST(Failures, RatesOfPartsAddUp) {
  EXPECT_DOUBLE_EQ(to_hours(mean_between_failures({1000, hours(50'000)}, {125, {}})), 50);
  EXPECT_DOUBLE_EQ(to_hours(mean_between_failures({1000, hours(50'000)}, {100, hours(5'000)})), 25);
}

// Daly 2006, the complete model: M e^(R/M) (e^((tau + C)/M) - 1) work / tau.
TEST(Failures, ASynchronousCheckpointHasDalysTime) {
  const double mean = 10'000, copy = 60, restart = 300, interval = 1000;
  const RunTimes times = expected_times(model_of(mean, copy, 0, restart), seconds(250 * interval), seconds(interval));
  const double daly = mean * std::exp(restart / mean) * (std::exp((interval + copy) / mean) - 1) * 250;
  EXPECT_NEAR(times.total.value, daly, 1e-9 * daly);
  EXPECT_NEAR(slowdown(model_of(mean, copy, 0, restart), seconds(interval)), daly / (250 * interval), 1e-12);
  EXPECT_NEAR(times.failures, daly / mean, 1e-9);
}

TEST(Failures, PartsOfTheTimeAddUpAndNoneIsNegative) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const FailureModel model = random_model(random, i % 2 == 0);
    const Duration interval = best_interval(model), work = interval * (0.3 + i % 40);
    const RunTimes t = expected_times(model, work, interval);
    EXPECT_NEAR(t.total.value, (t.useful + t.checkpoints + t.lost + t.restarts).value, 1e-9 * t.total.value);
    EXPECT_EQ(t.useful, work);
    EXPECT_GT(t.checkpoints.value, 0);
    EXPECT_GT(t.lost.value, 0);
    EXPECT_GT(t.restarts.value, 0);
    EXPECT_GT(t.goodput(), 0);
    EXPECT_LT(t.goodput(), 1);
  }
}

TEST(Failures, ThatHardlyEverComeCostNothing) {
  for (const double write : {0.0, 20.0, 500.0}) {
    const FailureModel model = model_of(1e13, 7, write, 300);
    const RunTimes often = expected_times(model, seconds(10'300), seconds(100));
    const RunTimes never = times_without_failures(seconds(7), seconds(write), seconds(10'300), seconds(100));
    EXPECT_NEAR(often.total / never.total, 1, 1e-6);
    // Of 103 checkpoints each waits for its copy, and but for the first for what the interval leaves of the last write.
    EXPECT_DOUBLE_EQ(never.checkpoints.value, 103 * 7 + 102 * std::max(0.0, write - 100) + write);
  }
}

TEST(Failures, ARestThatIsNoWholeIntervalIsStoredToo) {
  const RunTimes times = times_without_failures(seconds(7), {}, seconds(250), seconds(100));
  EXPECT_DOUBLE_EQ(times.checkpoints.value, 21);
  const RunTimes short_run = times_without_failures(seconds(7), seconds(9), seconds(50), seconds(100));
  EXPECT_DOUBLE_EQ(short_run.total.value, 66);
}

TEST(Failures, MoreOfThemNeverTakeLessTimeAndNeitherDoDearerCheckpointsOrRestarts) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const FailureModel model = random_model(random, i % 2 == 0);
    const Duration interval = best_interval(model), work = interval * 20.5;
    const double total = expected_times(model, work, interval).total.value;
    const auto worse = [&](auto change) {
      FailureModel changed = model;
      change(changed);
      EXPECT_GE(expected_times(changed, work, interval).total.value, total * (1 - 1e-12)) << i;
      EXPECT_GE(slowdown(changed, best_interval(changed)), slowdown(model, interval) * (1 - 1e-9)) << i;
    };
    worse([](FailureModel& m) { m.mean_between = m.mean_between * 0.8; });
    worse([](FailureModel& m) { m.copy = m.copy * 1.3; });
    worse([](FailureModel& m) { m.write = m.write * 1.3; });
    worse([](FailureModel& m) { m.restart = m.restart * 1.3; });
  }
}

TEST(BestInterval, IsAMinimum) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const FailureModel model = random_model(random, i % 2 == 0);
    const Duration best = best_interval(model);
    const double least = slowdown(model, best);
    for (double times = 1.0 / 64; times <= 64; times *= 1.1)
      EXPECT_GE(slowdown(model, best * times), least * (1 - 1e-9)) << i << " at " << times << " times the best";
  }
}

// The minimum of (e^((tau + C)/M) - 1) / tau is where tau / M = 1 + W(-e^(-1 - C/M)).
TEST(BestInterval, IsThatOfLambertsFunctionWhereCheckpointsAreSynchronous) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    const FailureModel model = random_model(random, false);
    const double ratio = model.copy / model.mean_between;
    const double exact = model.mean_between.value * (1 + boost::math::lambert_w0(-std::exp(-1 - ratio)));
    EXPECT_NEAR(best_interval(model).value, exact, 1e-5 * exact) << i;
  }
}

// Daly 2006, fig. 3: his estimate is next to exact, Young's is near where checkpoints are cheap.
TEST(BestInterval, IsNearYoungsAndNearerDalys) {
  for (const double copy : {1.0, 10.0, 100.0, 1000.0}) {
    const FailureModel model = model_of(20'000, copy, 0, 100);
    const double exact = best_interval(model).value;
    EXPECT_NEAR(daly_interval(model).value, exact, 0.001 * exact) << copy;
    EXPECT_LT(std::abs(daly_interval(model).value - exact), std::abs(young_interval(model).value - exact)) << copy;
  }
  EXPECT_DOUBLE_EQ(young_interval(model_of(20'000, 100, 0, 0)).value, 2000);
  EXPECT_DOUBLE_EQ(daly_interval(model_of(100, 250, 0, 0)).value, 100);  // C >= 2 M
}

TEST(BestInterval, OfWritesBehindTheJobsBackIsNoneThatWaitsForThem) {
  const FailureModel model = model_of(20'000, 1, 400, 100);
  EXPECT_GE(best_interval(model).value, 400 * (1 - 1e-6));
  EXPECT_GE(slowdown(model, best_interval(model)), slowdown(model_of(20'000, 1, 0, 100), seconds(200)));
}

// 3 standard errors: of 60 drawn means some two in a hundred would lie outside by chance; the seeds are fixed.
TEST(SimulatedFailures, TakeTheTimeThatIsExpected) {
  LEFT_TO_RELEASE();
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    const FailureModel model = random_model(random, i % 2 == 0);
    const Duration interval = best_interval(model) * (i % 3 == 0 ? 0.4 : 1), work = interval * (0.7 + i % 30);
    const RunTimes expected = expected_times(model, work, interval);
    const SimulatedRuns drawn = simulate_failures(model, work, interval, 4000, 100 + static_cast<std::uint64_t>(i));
    EXPECT_NEAR(drawn.mean.value, expected.total.value, 3 * drawn.error().value) << i;
    EXPECT_NEAR(drawn.failures, expected.failures, 0.1 * expected.failures + 0.05) << i;
    EXPECT_LE(drawn.low, drawn.mean);
    EXPECT_LE(drawn.low, drawn.high);
  }
}

TEST(SimulatedFailures, AreTheSameFromTheSameSeedAndOthersFromAnother) {
  const FailureModel model = model_of(10'000, 60, 100, 300);
  const auto mean = [&](std::uint64_t seed) {
    return simulate_failures(model, seconds(100'000), seconds(1000), 50, seed).mean;
  };
  EXPECT_EQ(mean(1), mean(1));
  EXPECT_NE(mean(1), mean(2));
}

TEST(SimulatedFailures, WithoutFailuresTakeEachStallOnce) {
  for (const double write : {0.0, 20.0, 500.0}) {
    const SimulatedRuns drawn = simulate_failures(model_of(1e15, 7, write, 300), seconds(10'350), seconds(100), 3, 1);
    EXPECT_NEAR(drawn.mean.value,
                times_without_failures(seconds(7), seconds(write), seconds(10'350), seconds(100)).total.value, 1e-6);
    EXPECT_EQ(drawn.failures, 0);
  }
}

TEST(SimulatedFailures, ThatNeverEndAreRefused) {
  EXPECT_THROW(simulate_failures(model_of(1, 60, 0, 0.001), seconds(1000), seconds(100), 2, 1), InputError);
}

}  // namespace
}  // namespace stepcast::search
