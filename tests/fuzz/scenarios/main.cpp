// random_scenarios [COUNT [FIRST_SEED]]: forecasts COUNT random scenarios, each of a seed of its own. Each must become
// a forecast or an error that says where. Prints a line for every seed (outcome, reason, milliseconds), the text of
// those that fail, and how many were what; exit status 1 where some failed. One seed alone also has its text printed.

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "tests/fuzz/scenarios/outcome.h"
#include "tests/fuzz/scenarios/random_scenario.h"

namespace {

constexpr std::array kOutcomes = {"forecast", "out of memory", "refused", "not asked"};

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  stepcast::language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const stepcast::test::ConfigNames names = stepcast::test::config_names(library);
  std::array<std::uint64_t, kOutcomes.size()> counted{};
  std::uint64_t failed = 0, slowest_seed = first;
  double slowest = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    fmt::print("{} ", seed);
    stepcast::test::Choices choices(seed);
    const std::string text = stepcast::test::random_scenario(choices, names);
    if (count == 1) fmt::print("\n{}", text);
    std::fflush(stdout);  // what comes next may end the program
    const Clock::time_point start = Clock::now();
    try {
      const auto [outcome, why] = stepcast::test::outcome_of(text, library, stepcast::test::Sizes::any);
      ++counted[static_cast<std::size_t>(outcome)];
      fmt::print("{}{}{}", kOutcomes[static_cast<std::size_t>(outcome)], why.empty() ? "" : ": ", why);
    } catch (const std::exception& error) {
      ++failed;
      fmt::print("FAILED: {}\n{}", error.what(), text);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    fmt::print(" {:.0f} ms\n", seconds * 1e3);
    if (seconds <= slowest) continue;
    slowest = seconds;
    slowest_seed = seed;
  }
  fmt::print(
      "{} scenarios from seed {}: {} forecasts, {} out of memory, {} refused, {} failed; slowest {:.2f} s (seed {}), "
      "peak memory {} MiB\n",
      count, first, counted[0], counted[1], counted[2], failed, slowest, slowest_seed, peak_mib());
  return failed == 0 ? 0 : 1;
}
