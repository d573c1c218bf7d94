#include <gtest/gtest.h>

#include "collectives/timing/timer.h"
#include "sim/input_error.h"
#include "tests/collectives/fixtures.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

constexpr Bandwidth kPort{25e9};
constexpr Time kAlpha = microseconds(3);

/// One GPU on each node of one switch.
Timer uniform(std::uint32_t ranks) {
  return Timer(build({.nodes = ranks, .gpus = 1}), {.network_step = kAlpha, .chunk = {std::int64_t{1} << 40}});
}

Time time(Timer& timer, Operation operation, Bytes bytes, std::uint32_t ranks, std::string_view algorithm,
          const Details& details) {
  const Group group = gpus(ranks);
  return timer.time(operation, bytes, std::span(&group, 1), algorithm, true, details).duration;
}

// Jiang et al., BytePS, OSDI 2020, section 2.2: s separate servers each take a share of every worker's gradient.
TEST(Details, SeparateServersTakeAShareOfEveryWorker) {
  Timer timer = uniform(12);
  const std::int64_t n = 12'000'000;
  for (const std::uint32_t servers : {1u, 2u, 3u, 4u, 6u}) {
    const std::uint32_t workers = 12 - servers;
    const Time fan_in = Bytes{workers * n / servers} / kPort;  // each way; in pieces the two ways overlap
    const Time taken = time(timer, Operation::all_reduce, {n}, 12, "sharded-parameter-server", {.servers = servers});
    EXPECT_GE(taken, kAlpha * 2 + fan_in) << servers;
    EXPECT_LE(to_seconds(taken), 1.25 * to_seconds(fan_in)) << servers;
  }
  EXPECT_LT(time(timer, Operation::all_reduce, {n}, 12, "auto", {.servers = 6}),
            time(timer, Operation::all_reduce, {n}, 12, "auto", {.servers = 3}));
}

TEST(Details, EvenWeightsAreTheEvenAllToAll) {
  Timer timer = uniform(8);
  const Details even{.servers = 0, .pair_weights = std::vector<std::int64_t>(64, 7)};
  for (const char* algorithm : {"direct", "pairwise"}) {
    EXPECT_EQ(time(timer, Operation::all_to_all, {8'000'000}, 8, algorithm, even),
              time(timer, Operation::all_to_all, {8'000'000}, 8, algorithm, {}));
  }
}

TEST(Details, UnevenAllToAllIsBoundByTheBusiestReceiver) {
  Timer timer = uniform(4);
  Details uneven{.servers = 0, .pair_weights = std::vector<std::int64_t>(16, 1)};
  for (std::size_t source = 0; source < 4; ++source) uneven.pair_weights[source * 4 + 3] = 5;  // all want rank 3
  const std::int64_t n = 8'000'000;                                                            // 1 + 1 + 1 + 5 parts
  EXPECT_EQ(time(timer, Operation::all_to_all, {n}, 4, "direct", uneven), kAlpha + Bytes{3 * n * 5 / 8} / kPort);
}

TEST(Details, SayWhatDoesNotFit) {
  Timer timer = uniform(4);
  const auto error = [&](Operation operation, std::string_view algorithm, const Details& details) -> std::string {
    try {
      time(timer, operation, {8}, 4, algorithm, details);
    } catch (const InputError& thrown) {
      return thrown.what();
    }
    return "none";
  };
  EXPECT_EQ(error(Operation::all_reduce, "ring", {.servers = 1}),
            "servers: 'ring' has none: that is for parameter servers");
  EXPECT_EQ(error(Operation::all_reduce, "auto", {.servers = 4}), "servers: found 4, expected fewer than the 4 ranks");
  EXPECT_EQ(error(Operation::all_gather, "auto", {.servers = 1}), "algorithm: none can do all_gather over 4 ranks");
  EXPECT_EQ(error(Operation::all_reduce, "auto", {.pair_weights = std::vector<std::int64_t>(16, 1)}),
            "uneven sizes: only all_to_all has a size for each pair of ranks");
  EXPECT_EQ(error(Operation::all_to_all, "auto", {.pair_weights = std::vector<std::int64_t>(9, 1)}),
            "uneven sizes: found 9 of them, expected 4 rows of 4");
  EXPECT_EQ(error(Operation::all_to_all, "auto", {.pair_weights = std::vector<std::int64_t>(16, 0)}),
            "uneven sizes: all are 0");
}

}  // namespace
}  // namespace stepcast::collectives
