#include "search/run/simulated_failures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::search {
namespace {

constexpr std::uint64_t kMostEvents = 100'000'000;

/// Times between failures. (Not std::exponential_distribution, of which each library has its own.)
class Draws {
 public:
  Draws(Duration mean, std::uint64_t seed, std::uint32_t run) : mean_(mean.value) {
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), run};
    engine_.seed(words);
  }
  double next() {
    constexpr int kBitsOfADouble = 53;
    const double share = std::ldexp(static_cast<double>(engine_() >> (64 - kBitsOfADouble)), -kBitsOfADouble);
    return -mean_ * std::log1p(-share);
  }

 private:
  double mean_;
  std::mt19937_64 engine_;
};

struct OneRun {
  double time = 0;
  std::uint64_t failures = 0;
};

/// A job on its way: seconds since it began, and how much of its work would outlive a failure.
class SimulatedRun {
 public:
  SimulatedRun(const FailureModel& model, double work, double interval, Draws draws)
      : model_(model), work_(work), interval_(interval), draws_(draws), failure_(draws_.next()) {}

  OneRun run() {
    while (!reaches_its_end()) stand_still();
    return {now_, failures_};
  }

 private:
  /// From the last checkpoint that counts, until the work is done and stored, or a failure comes first.
  bool reaches_its_end() {
    double taken = stored_;  // work in the newest checkpoint
    double written = now_;   // when that one counts
    double at = now_;        // of the job itself
    while (taken < work_) {
      count_event();
      const double piece = std::min(interval_, work_ - taken);
      if (failure_ < written) return false;
      stored_ = taken;
      at = std::max(at + piece, written) + model_.copy.value;
      if (failure_ < at) return false;
      taken += piece;
      if (work_ - taken < kRounding * interval_) taken = work_;
      written = at + model_.write.value;
    }
    if (failure_ < written) return false;
    now_ = written;
    return true;
  }

  /// From a failure until the job goes on. Where one comes meanwhile, the next way to the end stops before it begins,
  /// at that one.
  void stand_still() {
    count_event();
    now_ = failure_ + model_.restart.value;
    failure_ += draws_.next();
    ++failures_;
  }

  void count_event() {
    if (++events_ > kMostEvents)
      throw InputError("--simulate-failures", "a run takes more than 100 million failures and checkpoints");
  }

  static constexpr double kRounding = 1e-9;  // a rest of work that is none

  const FailureModel model_;
  const double work_, interval_;
  Draws draws_;
  double failure_;
  double now_ = 0, stored_ = 0;
  std::uint64_t failures_ = 0, events_ = 0;
};

}  // namespace

Duration SimulatedRuns::error() const { return deviation * (1 / std::sqrt(static_cast<double>(runs))); }

SimulatedRuns simulate_failures(const FailureModel& model, Duration work, Duration interval, std::uint32_t runs,
                                std::uint64_t seed) {
  std::vector<double> times;
  SimulatedRuns all{.runs = runs};
  double sum = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const OneRun run = SimulatedRun(model, work.value, interval.value, Draws(model.mean_between, seed, i)).run();
    times.push_back(run.time);
    sum += run.time;
    all.failures += static_cast<double>(run.failures) / runs;
  }
  all.mean = Duration{sum / runs};
  double squares = 0;
  for (const double time : times) squares += (time - all.mean.value) * (time - all.mean.value);
  all.deviation = Duration{std::sqrt(squares / (runs - 1))};
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return Duration{times[static_cast<std::size_t>(std::lround(share * static_cast<double>(times.size() - 1)))]};
  };
  all.low = at(0.05);
  all.high = at(0.95);
  return all;
}

}  // namespace stepcast::search
