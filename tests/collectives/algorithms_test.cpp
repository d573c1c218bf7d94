#include "collectives/algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "collectives/execute.h"
#include "sim/input_error.h"
#include "tests/collectives/definition.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::before;
using test::Buffers;
using test::wrong;

std::string text(const Algorithm& algorithm, const Request& request) {
  return std::string(algorithm.name) + " " + std::string(name(request.operation)) + ", " +
         std::to_string(request.nodes) + " x " + std::to_string(request.gpus()) + ", " +
         std::to_string(request.elements) + " elements, " + std::to_string(request.channels) + " channels, " +
         std::to_string(request.pieces) + " pieces";
}

void expect_right(const Algorithm& algorithm, const Request& request, TransferOrder turn) {
  Buffers buffers = before(request);
  const CollectivePlan plan = algorithm.plan(request);
  execute(plan, buffers, turn);
  EXPECT_EQ(wrong(request, buffers), "") << text(algorithm, request);
  EXPECT_TRUE(unreached(plan).empty()) << text(algorithm, request);
}

/// Every shape (nodes x gpus) of so many ranks, with the channels the timer would use and with one.
template <class Visit>
void each_shape(Request request, Visit visit) {
  request.nvlink_sharp = true;
  request.in_network_reduction = true;
  for (std::uint32_t nodes = 1; nodes <= request.ranks; ++nodes) {
    if (request.ranks % nodes != 0) continue;
    request.nodes = nodes;
    for (const std::uint32_t channels : std::set<std::uint32_t>{1u, request.gpus()}) {
      request.channels = channels;
      visit(request);
    }
  }
}

/// One element of each cell stands for all: the same buffers as with every element run.
TEST(Algorithms, RunOnCellsAsTheyDoOnElements) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      each_shape({.operation = operation, .ranks = 6, .elements = 1001, .pieces = 3}, [&](Request request) {
        if (!algorithm->supports(request)) return;
        const CollectivePlan plan = algorithm->plan(request);
        const test::Grain grain(request, plan);
        Buffers whole = before(request), cells = test::before(request, grain);
        execute(plan, whole);
        execute(grain.of(plan), cells);
        EXPECT_LT(grain.cells(), 1001 * 6 / 4);
        for (std::size_t rank = 0; rank < 6; ++rank) {
          for (std::int64_t cell = 0; cell < grain.cells(); ++cell) {
            EXPECT_EQ(cells[rank][static_cast<std::size_t>(cell)],
                      whole[rank][static_cast<std::size_t>(grain.element(cell))])
                << text(*algorithm, request);
          }
        }
      });
    }
  }
}

/// Element by element; every_shape_test.cpp does it by cells, for every shape.
TEST(Algorithms, DoWhatTheOperationSaysForManyElements) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : kOperations) {
      for (const auto& [nodes, gpus] : {std::pair{1u, 2u}, {3u, 1u}, {2u, 3u}}) {
        if (operation == Operation::all_to_all && nodes * gpus > 3) continue;
        const Request request{.operation = operation,
                              .ranks = nodes * gpus,
                              .elements = stepcast::test::kSanitized ? 10'007 : 100'003,
                              .nodes = nodes,
                              .channels = gpus,
                              .pieces = 4,
                              .nvlink_sharp = true,
                              .in_network_reduction = true};
        if (algorithm->supports(request)) expect_right(*algorithm, request, TransferOrder::first_ready_first);
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
                     expect_right(*algorithm, request, TransferOrder::first_ready_first);
                     expect_right(*algorithm, request, TransferOrder::last_ready_first);
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
          const CollectivePlan whole = algorithm->plan(request);
          request.fold = algorithm->symmetry(request);
          if (request.fold == Symmetry{}) return;
          const CollectivePlan folded = algorithm->plan(request);
          const std::size_t images =
              (request.fold.period != 0 ? ranks / request.fold.period : 1) * (!request.fold.rotate    ? 1
                                                                              : request.fold.row != 0 ? request.fold.row
                                                                                                      : request.gpus());
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
        const CollectivePlan empty = algorithm->plan(request);
        request.elements = 1000;
        request.pieces = 7;
        const CollectivePlan full = algorithm->plan(request);
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
    const CollectivePlan plan = algorithm("double-binary-tree").plan({.ranks = nodes, .elements = 2, .nodes = nodes});
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
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::StartsWith("algorithm: found 'doublebinarytree', expected one of ring, tree, "
                                                   "double-binary-tree, "),
                               testing::EndsWith(", auto, nccl, library; did you mean 'double-binary-tree'?")));
  }
}

TEST(Operation, HasTheNameUsersType) {
  EXPECT_EQ(name(Operation::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(name(Operation::send_recv), "send_recv");
}

}  // namespace
}  // namespace stepcast::collectives
