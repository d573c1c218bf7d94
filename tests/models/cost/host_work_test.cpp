#include "models/cost/host_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace stepcast::schedules {
namespace {

struct Launched {
  Time host, kernel;
  bool waits = false;  ///< the host then waits until the GPU has done it
};

/// When host and GPU are done with kernels that the host comes to at `host` and the GPU at `gpu`, one after the other.
std::pair<Time, Time> queue(const std::vector<Launched>& kernels, Time host, Time gpu) {
  for (const Launched& each : kernels) {
    gpu = std::max(gpu, host) + each.kernel;
    host += each.host;
    if (each.waits) host = gpu = std::max(host, gpu);
  }
  return {host, gpu};
}

struct KernelRun {
  HostWork host;
  Time kernels;
};

KernelRun of(const Launched& each) {
  if (!each.waits) return {{each.host, {}, 1}, each.kernel};
  return {{each.host, std::max(each.host - each.kernel, Time{}), 0, Time{}}, each.kernel};
}
KernelRun operator+(const KernelRun& a, const KernelRun& b) {
  return {then(a.host, a.kernels, b.host, b.kernels), a.kernels + b.kernels + held_up(a.host, b.host)};
}

KernelRun all(std::span<const Launched> kernels) {
  KernelRun run;
  for (const Launched& each : kernels) run = run + of(each);
  return run;
}

std::vector<Launched> random_kernels(std::mt19937& random, std::size_t most, bool waits = false) {
  const auto below = [&](std::uint32_t end) { return microseconds(static_cast<std::int64_t>(random() % end)); };
  std::vector<Launched> out(1 + random() % most);
  for (Launched& each : out) {
    const Time host = below(30);
    each = {host, below(40), waits && random() % 5 == 0};
  }
  return out;
}

void expect_as_queued(const KernelRun& run, const std::vector<Launched>& kernels) {
  for (const Time ahead : {microseconds(-200), Time{}, microseconds(7), microseconds(300)}) {
    const auto [host, gpu] = queue(kernels, microseconds(500), microseconds(500) + ahead);
    EXPECT_EQ(microseconds(500) + std::max(ahead, run.host.behind) + run.kernels, gpu);
    EXPECT_EQ(run.host.ahead ? gpu - *run.host.ahead : microseconds(500) + run.host.time, host);
  }
}

TEST(HostWork, ThreeNumbersSayWhatAQueueOfKernelsDoesFromWhereverHostAndGpuComeToIt) {
  std::mt19937 random(17);
  for (int turn = 0; turn < 500; ++turn) {
    const std::vector<Launched> kernels = random_kernels(random, 40);
    expect_as_queued(all(kernels), kernels);
    // However they are put together.
    const std::span<const Launched> span = kernels;
    const std::size_t cut = random() % (kernels.size() + 1);
    expect_as_queued(all(span.first(cut)) + all(span.subspan(cut)), kernels);
  }
}

TEST(HostWork, BehindAWaitTheHostIsAsFarAheadWhereverItCameFrom) {
  std::mt19937 random(19);
  for (int turn = 0; turn < 500; ++turn) {
    const std::vector<Launched> kernels = random_kernels(random, 40, true);
    expect_as_queued(all(kernels), kernels);
    const std::span<const Launched> span = kernels;
    const std::size_t cut = random() % (kernels.size() + 1);
    expect_as_queued(all(span.first(cut)) + all(span.subspan(cut)), kernels);
    const KernelRun once = all(kernels);
    std::vector<Launched> thrice;
    for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), kernels.begin(), kernels.end());
    expect_as_queued({repeated(once.host, once.kernels, 3), once.kernels * 3 + held_up(once.host, once.host) * 2},
                     thrice);
  }
}

TEST(HostWork, ARunManyTimesIsThatManyRuns) {
  std::mt19937 random(18);
  for (int turn = 0; turn < 200; ++turn) {
    const std::vector<Launched> once = random_kernels(random, 12);
    const KernelRun run = all(once);
    const auto n = static_cast<std::int64_t>(1 + random() % 9);
    std::vector<Launched> kernels;
    for (std::int64_t i = 0; i < n; ++i) kernels.insert(kernels.end(), once.begin(), once.end());
    expect_as_queued({repeated(run.host, run.kernels, n), run.kernels * n}, kernels);
  }
}

TEST(HostWork, AHostFasterThanEveryKernelHoldsNothingUpAndASlowerOneAllButTheLastKernel) {
  const std::vector<Launched> fast(9, {microseconds(5), microseconds(5)}), slow(9, {microseconds(6), microseconds(5)});
  EXPECT_EQ(all(fast).host.behind, Time{});
  EXPECT_EQ(all(slow).host.behind + all(slow).kernels, microseconds(8 * 6 + 5));
}

TEST(HostWork, ALeadGainedInALongKernelHidesLaunchesThatComeAfterIt) {
  const std::vector<Launched> tiny(10, {microseconds(6), microseconds(1)});
  const KernelRun long_one = of({microseconds(6), microseconds(100)});
  EXPECT_EQ(all(tiny).host.behind, microseconds(45));
  EXPECT_EQ((long_one + all(tiny)).host.behind, Time{});
  EXPECT_EQ((all(tiny) + long_one).host.behind, microseconds(50));
}

}  // namespace
}  // namespace stepcast::schedules
