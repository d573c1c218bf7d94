#include "collectives/algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "collectives/execute.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

using Buffers = std::vector<std::vector<std::int64_t>>;

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                     Operation::broadcast,  Operation::reduce,     Operation::all_to_all,
                                     Operation::send_recv};
constexpr std::int64_t kGarbage = -123456789;

std::int64_t value(std::uint32_t rank, std::int64_t element) { return (rank + 1) * 1'000'003LL + element * 7919; }

std::int64_t sum(std::uint32_t ranks, std::int64_t element) {
  std::int64_t total = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) total += value(rank, element);
  return total;
}

/// What ranks hold before: only what the operation's definition says they have; the rest is garbage.
Buffers before(const Request& request) {
  const std::uint32_t n = request.ranks;
  const bool global = request.operation == Operation::all_to_all;
  Buffers buffers(n,
                  std::vector<std::int64_t>(static_cast<std::size_t>(request.elements) * (global ? n : 1), kGarbage));
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    Range has = request.all();
    if (request.operation == Operation::all_gather) has = part(has, n, rank);
    if (global) has.begin = rank * request.elements;
    const bool only_root = request.operation == Operation::broadcast || request.operation == Operation::send_recv;
    if (only_root && rank != 0) has.count = 0;
    for (std::int64_t e = has.begin; e < has.begin + has.count; ++e) {
      buffers[rank][static_cast<std::size_t>(e)] = value(rank, e);
    }
  }
  return buffers;
}

/// The operation's definition; the first wrong element as text, or nothing.
std::string wrong(const Request& request, const Buffers& after) {
  const std::uint32_t n = request.ranks;
  const auto check = [&](std::uint32_t rank, Range range, auto expected) -> std::string {
    for (std::int64_t e = range.begin; e < range.begin + range.count; ++e) {
      const std::int64_t found = after[rank][static_cast<std::size_t>(e)];
      if (found != expected(e)) {
        return "rank " + std::to_string(rank) + " element " + std::to_string(e) + ": found " + std::to_string(found) +
               ", expected " + std::to_string(expected(e));
      }
    }
    return {};
  };
  const auto total = [&](std::int64_t e) { return sum(n, e); };
  const auto of = [](std::uint32_t rank) { return [rank](std::int64_t e) { return value(rank, e); }; };
  std::string error;
  for (std::uint32_t rank = 0; rank < n && error.empty(); ++rank) {
    switch (request.operation) {
      case Operation::all_reduce:
        error = check(rank, request.all(), total);
        break;
      case Operation::reduce_scatter:
        error = check(rank, part(request.all(), n, rank), total);
        break;
      case Operation::broadcast:
        error = check(rank, request.all(), of(0));
        break;
      case Operation::reduce:
        error = rank == 0 ? check(0, request.all(), total) : "";
        break;
      case Operation::send_recv:
        error = check(rank, request.all(), of(0));
        break;
      case Operation::all_gather:
        for (std::uint32_t from = 0; from < n && error.empty(); ++from) {
          error = check(rank, part(request.all(), n, from), of(from));
        }
        break;
      case Operation::all_to_all:
        for (std::uint32_t from = 0; from < n && error.empty(); ++from) {
          error = check(rank, part({from * request.elements, request.elements}, n, rank), of(from));
        }
        break;
    }
  }
  return error;
}

std::string text(const Algorithm& algorithm, const Request& request) {
  return std::string(algorithm.name) + " " + std::string(name(request.operation)) + ", " +
         std::to_string(request.nodes) + " x " + std::to_string(request.gpus()) + ", " +
         std::to_string(request.elements) + " elements, " + std::to_string(request.channels) + " channels, " +
         std::to_string(request.pieces) + " pieces";
}

void expect_right(const Algorithm& algorithm, const Request& request, Turn turn) {
  Buffers buffers = before(request);
  const Plan plan = algorithm.plan(request);
  execute(plan, buffers, turn);
  EXPECT_EQ(wrong(request, buffers), "") << text(algorithm, request);
  EXPECT_TRUE(unreached(plan).empty()) << text(algorithm, request);
}

/// Every shape (nodes x gpus) of so many ranks, with the channels the timer would use and with one.
template <class Visit>
void each_shape(Request request, Visit visit) {
  for (std::uint32_t nodes = 1; nodes <= request.ranks; ++nodes) {
    if (request.ranks % nodes != 0) continue;
    request.nodes = nodes;
    for (const std::uint32_t channels : std::set<std::uint32_t>{1u, request.gpus()}) {
      request.channels = channels;
      visit(request);
    }
  }
}

TEST(Algorithms, DoWhatTheOperationSaysForEveryShapeOfUpTo33Ranks) {
  int cases = 0;
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      for (std::uint32_t ranks = 1; ranks <= 33; ++ranks) {
        for (const std::int64_t elements : std::set<std::int64_t>{0, 1, ranks - 1, ranks, ranks + 1}) {
          each_shape({.operation = operation, .ranks = ranks, .elements = elements}, [&](Request request) {
            if (!algorithm->supports(request)) return;
            request.pieces = ranks % 2 == 0 ? 3 : 1;
            expect_right(*algorithm, request, ranks % 3 == 0 ? Turn::last_ready_first : Turn::first_ready_first);
            ++cases;
          });
        }
      }
    }
  }
  EXPECT_GT(cases, 10'000);
}

TEST(Algorithms, DoWhatTheOperationSaysForManyElements) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      for (const auto& [nodes, gpus] : {std::pair{1u, 2u}, {3u, 1u}, {2u, 3u}}) {
        if (operation == Operation::all_to_all && nodes * gpus > 3) continue;
        const Request request{.operation = operation,
                              .ranks = nodes * gpus,
                              .elements = 1'000'003,
                              .nodes = nodes,
                              .channels = gpus,
                              .pieces = 4};
        if (algorithm->supports(request)) expect_right(*algorithm, request, Turn::first_ready_first);
      }
    }
  }
}

/// Either order gives the same buffers, garbage included, only if nothing is missing from what transfers wait for.
TEST(Algorithms, WaitForAllTheyNeed) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      for (const std::uint32_t ranks : {2u, 6u, 12u, 16u}) {
        each_shape({.operation = operation, .ranks = ranks, .elements = 5 * ranks + 1, .pieces = 4},
                   [&](Request request) {
                     if (!algorithm->supports(request)) return;
                     expect_right(*algorithm, request, Turn::first_ready_first);
                     expect_right(*algorithm, request, Turn::last_ready_first);
                   });
      }
    }
  }
}

TEST(Algorithms, FoldedPlansHaveOneTransferForEachClass) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      for (const std::uint32_t ranks : {2u, 8u, 12u, 16u, 24u}) {
        each_shape({.operation = operation, .ranks = ranks, .elements = 48 * ranks}, [&](Request request) {
          if (!algorithm->supports(request)) return;
          const Plan whole = algorithm->plan(request);
          request.fold = algorithm->symmetry(request);
          if (request.fold == Symmetry{}) return;
          const Plan folded = algorithm->plan(request);
          const std::size_t images =
              (request.fold.period != 0 ? ranks / request.fold.period : 1) * (request.fold.rotate ? request.gpus() : 1);
          EXPECT_EQ(folded.transfers.size() * images, whole.transfers.size()) << text(*algorithm, request);
          EXPECT_EQ(folded.connections.size() * images, whole.connections.size()) << text(*algorithm, request);
        });
      }
    }
  }
}

TEST(Algorithms, ConnectionsDependOnNeitherElementsNorPieces) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      each_shape({.operation = operation, .ranks = 12}, [&](Request request) {
        if (!algorithm->supports(request)) return;
        const Plan empty = algorithm->plan(request);
        request.elements = 1000;
        request.pieces = 7;
        const Plan full = algorithm->plan(request);
        ASSERT_EQ(empty.connections.size(), full.connections.size()) << text(*algorithm, request);
        for (std::size_t c = 0; c < full.connections.size(); ++c) {
          EXPECT_EQ(empty.connections[c].source, full.connections[c].source);
          EXPECT_EQ(empty.connections[c].destination, full.connections[c].destination);
        }
      });
    }
  }
}

TEST(Algorithms, RingsOfAllChannelsTogetherLeaveANodeByEveryGpu) {
  for (const std::uint32_t nodes : {2u, 3u, 4u, 7u}) {
    const Request request{.ranks = nodes * 4, .elements = 64, .nodes = nodes, .channels = 4};
    std::vector<int> leaving(request.ranks), entering(request.ranks);
    for (const Connection& way : algorithm("ring").plan(request).connections) {
      if (index(way.source) / 4 == index(way.destination) / 4) continue;
      ++leaving[index(way.source)];
      ++entering[index(way.destination)];
      if (nodes % 2 == 0) {
        EXPECT_EQ(index(way.source) % 4, index(way.destination) % 4) << "the step changes rails";
      }
    }
    EXPECT_THAT(leaving, testing::Each(1));
    EXPECT_THAT(entering, testing::Each(1));
  }
}

TEST(Algorithms, InADoubleBinaryTreeARankForwardsInOneTreeOnly) {
  for (std::uint32_t nodes = 2; nodes <= 70; ++nodes) {
    const Plan plan = algorithm("double-binary-tree").plan({.ranks = nodes, .elements = 2, .nodes = nodes});
    std::vector<std::set<std::uint32_t>> forwards(nodes);
    std::vector<std::vector<int>> children(2, std::vector<int>(nodes));
    for (const Transfer& transfer : plan.transfers) {
      if (transfer.effect != Effect::reduce) continue;
      const Connection& way = plan.connections[index(transfer.connection)];
      forwards[index(way.destination)].insert(way.channel);
      ++children[way.channel][index(way.destination)];
    }
    for (std::uint32_t rank = 0; rank < nodes; ++rank) {
      EXPECT_LE(forwards[rank].size(), 1u) << "rank " << rank << " of " << nodes;
      EXPECT_LE(children[0][rank] + children[1][rank], 2) << "rank " << rank << " of " << nodes;
    }
  }
}

TEST(Algorithms, HaveNamesSummariesAndSources) {
  std::set<std::string_view> names;
  for (const Algorithm* each : algorithms()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_FALSE(each->summary.empty());
    EXPECT_FALSE(each->source.empty());
    EXPECT_EQ(&algorithm(each->name), each);
  }
}

TEST(Algorithms, AreAllInTheDocs) {
  std::ifstream file(STEPCAST_SOURCE_DIR "/docs/collectives.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), {});
  for (const Algorithm* each : algorithms()) {
    EXPECT_NE(docs.find("| `" + std::string(each->name) + "` |"), std::string::npos) << each->name;
  }
}

TEST(Algorithms, UnknownNameGivesTheNearest) {
  try {
    algorithm("doublebinarytree");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "algorithm: found 'doublebinarytree', did you mean 'double-binary-tree'? Allowed: ring, tree, "
                 "double-binary-tree, hierarchical, direct, send-recv, auto");
  }
}

TEST(Operation, HasTheNameUsersType) {
  EXPECT_EQ(name(Operation::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(name(Operation::send_recv), "send_recv");
}

}  // namespace
}  // namespace stepcast::collectives
