// Every algorithm and operation, run on integers and compared with the operation's definition: 1 to 33, 64 and 72
// ranks in every shape nodes x GPUs, for none, one, about as many elements as ranks, and very many.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <string>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/search/view_links.h"
#include "tests/collectives/definition.h"
#include "tests/collectives/fixtures.h"
#include "tests/collectives/islands.h"
#include "tests/long.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

constexpr std::int64_t kMany = 1'000'003;
/// Beyond these ranks not every GPU has a link to every other.
constexpr std::uint32_t kFew = 16;

std::string text(const Algorithm& algorithm, const Request& request) {
  return std::string(algorithm.name) + " " + std::string(name(request.operation)) + ", " +
         std::to_string(request.nodes) + " x " + std::to_string(request.gpus()) + ", " +
         std::to_string(request.elements) + (request.pair_elements.empty() ? "" : " uneven") + " elements, " +
         std::to_string(request.channels) + " channels, " + std::to_string(request.pieces) + " pieces, " +
         std::to_string(request.servers) + " servers";
}

/// The views that an algorithm may find: behind one NVSwitch per node, and for one node NVLinks from every GPU to every
/// other, or to the three nearest on both sides where there are many.
std::vector<LinkView> views(std::uint32_t nodes, std::uint32_t gpus) {
  const std::uint32_t ranks = nodes * gpus;
  std::vector<LinkView> found{view_links(test::build({.nodes = nodes, .gpus = gpus}), test::gpus(ranks))};
  if (nodes > 1) return found;
  std::vector<test::Wire> wires;
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = a + 1; b < ranks; ++b) {
      if (ranks <= kFew || b - a <= 3 || a + ranks - b <= 3) wires.push_back({a, b});
    }
  }
  found.push_back(view_links(test::island(ranks, wires), test::gpus(ranks)));
  return found;
}

/// What every rank sends every other in an uneven all_to_all: nothing here, all of it there, the rest by chance.
std::vector<std::int64_t> uneven(const Request& request, std::mt19937& random) {
  std::vector<std::int64_t> sizes;
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    std::vector<std::int64_t> ends{0};
    for (std::uint32_t i = 1; i < request.ranks; ++i) {
      ends.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(request.elements + 1)));
    }
    if (rank % 4 == 1) std::ranges::fill(ends, request.elements);
    std::ranges::sort(ends);
    ends.push_back(rank % 4 == 2 ? ends.back() : request.elements);
    for (std::uint32_t i = 0; i < request.ranks; ++i) sizes.push_back(ends[i + 1] - ends[i]);
  }
  return sizes;
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const Algorithm* each : algorithms()) all.push_back(each->name);
  return all;
}

class EveryShape : public testing::TestWithParam<std::string_view> {
 protected:
  void expect_right(const Request& request) {
    // A part of them, ever others of each shape and size.
    if (listed_++ % (stepcast::test::kSanitized ? 47 : stepcast::test::long_run() ? 1 : 11) != 0) return;
    const CollectivePlan plan = algorithm_.plan(request);
    const test::Grain grain = request.elements == kMany ? test::Grain(request, plan) : test::Grain(request);
    test::Buffers buffers = test::before(request, grain);
    const TransferOrder turn = ++cases_ % 3 == 0 ? TransferOrder::last_ready_first : TransferOrder::first_ready_first;
    request.elements == kMany ? execute(grain.of(plan), buffers, turn) : execute(plan, buffers, turn);
    ASSERT_EQ(test::wrong(request, grain, buffers), "") << text(algorithm_, request);
    EXPECT_TRUE(unreached(plan).empty()) << text(algorithm_, request);
  }

  /// All operations that it can do, of all sizes, even and uneven.
  void expect_all_right(Request request) {
    std::vector<Operation> able;
    for (const Operation operation : kOperations) {
      request.operation = operation;
      if (algorithm_.supports(request)) able.push_back(operation);
    }
    const std::int64_t ranks = request.ranks;
    std::mt19937 random(request.ranks * 100 + request.nodes);
    for (const std::int64_t elements : std::set<std::int64_t>{0, 1, ranks - 1, ranks, ranks + 1, kMany}) {
      request.elements = elements;
      for (const Operation operation : able) {
        request.operation = operation;
        request.pieces = cases_ % 2 == 0 ? 3 : 1;
        request.pair_elements.clear();
        expect_right(request);
        if (operation != Operation::all_to_all) continue;
        request.pair_elements = uneven(request, random);
        expect_right(request);
      }
    }
  }

  const Algorithm& algorithm_ = algorithm(GetParam());
  std::uint32_t cases_ = 0, listed_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Algorithms, EveryShape, testing::ValuesIn(names()), [](const auto& each) {
  std::string name(each.param);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(EveryShape, OfUpTo33And64And72RanksDoesWhatTheOperationSays) {
  const std::uint32_t most_servers = algorithm_.name.ends_with("parameter-server") ? 3 : 0;
  std::vector<std::uint32_t> counts(33);
  std::iota(counts.begin(), counts.end(), 1u);
  counts.insert(counts.end(), {64, 72});
  for (const std::uint32_t ranks : counts) {
    // The searches alone take a minute of a release build, and more of one with sanitizers.
    const bool few = stepcast::test::kSanitized || (!stepcast::test::long_run() && ranks % 8 != 0);
    if (few && algorithm_.needs_links && ranks > kFew) continue;
    for (std::uint32_t nodes = 1; nodes <= ranks; ++nodes) {
      if (ranks % nodes != 0) continue;
      Request request{.ranks = ranks, .nodes = nodes, .nvlink_sharp = true, .in_network_reduction = true};
      for (const LinkView& links : algorithm_.needs_links ? views(nodes, ranks / nodes) : std::vector<LinkView>(1)) {
        request.links = links;
        for (const std::uint32_t channels : std::set<std::uint32_t>{1u, request.gpus()}) {
          request.channels = channels;
          if (algorithm_.needs_links && channels > 1) continue;  // it has as many as its search finds
          for (request.servers = 0; request.servers <= most_servers; ++request.servers) expect_all_right(request);
        }
      }
    }
  }
  EXPECT_GT(cases_, 0u);
}

}  // namespace
}  // namespace stepcast::collectives
