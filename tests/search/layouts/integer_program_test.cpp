#include "search/layouts/integer_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/long.h"
#include "tests/sanitized.h"
#include "tests/search/layouts/solver.h"

namespace stepcast::search {
namespace {

/// Every combination of choices.
template <class Visit>
void for_all_choices(const LayoutGraph& graph, const Visit& visit) {
  std::vector<std::uint32_t> choices(graph.operators.size(), 0);
  for (;;) {
    visit(layouts_of(graph, choices));
    std::size_t place = 0;
    while (place < choices.size() && ++choices[place] == graph.operators[place].size()) choices[place++] = 0;
    if (place == choices.size()) return;
  }
}

std::optional<ChosenLayouts> best_of_all(const LayoutGraph& graph) {
  std::optional<ChosenLayouts> best;
  for_all_choices(graph, [&](const ChosenLayouts& chosen) {
    if ((!graph.limit || chosen.bytes <= *graph.limit) && (!best || chosen.time < best->time)) best = chosen;
  });
  return best;
}

Bytes fewest_of_all(const LayoutGraph& graph) {
  std::optional<Bytes> fewest;
  for_all_choices(graph, [&](const ChosenLayouts& chosen) {
    if (!fewest || chosen.bytes < *fewest) fewest = chosen.bytes;
  });
  return *fewest;
}

/// Up to 6 operators of up to 5 layouts, converted along random edges, some of which join an operator to itself or two
/// operators twice.
LayoutGraph random_graph(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t highest) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(highest + 1));
  };
  // Few unlike times make many answers that are as good; many make one.
  const std::int64_t longest = seed % 3 == 0 ? 3 : seed % 3 == 1 ? 100 : 2'000'000'000;
  LayoutGraph graph;
  graph.operators.resize(static_cast<std::size_t>(2 + up_to(4)));
  std::int64_t most = 0;
  for (auto& choices : graph.operators) {
    choices.resize(static_cast<std::size_t>(1 + up_to(4)));
    for (LayoutChoice& choice : choices) choice = {Time{up_to(longest)}, Bytes{up_to(40)}, Bytes{up_to(30)}};
    most += std::ranges::max(choices, {}, &LayoutChoice::bytes).bytes.value;
    if (seed % 2 == 0) graph.blocks.push_back(static_cast<std::uint32_t>(up_to(2)));
  }
  const std::int64_t fewest = fewest_bytes(graph).value;
  const std::int64_t last = std::ssize(graph.operators) - 1, edges = up_to(2 * last + 2);
  for (std::int64_t i = 0; i < edges; ++i) {
    LayoutConversion conversion{
        .from = static_cast<std::uint32_t>(up_to(last)), .to = static_cast<std::uint32_t>(up_to(last)), .times = {}};
    for (std::size_t from = 0; from < graph.operators[conversion.from].size(); ++from)
      for (std::size_t to = 0; to < graph.operators[conversion.to].size(); ++to) {
        if (to == 0) conversion.times.emplace_back();
        conversion.times.back().push_back(Time{up_to(longest)});
      }
    graph.conversions.push_back(std::move(conversion));
  }
  if (seed % 4 != 0) graph.limit = Bytes{fewest - 2 + up_to(std::max<std::int64_t>(most - fewest, 0) + 4)};
  return graph;
}

TEST(IntegerProgramOfLayouts, EqualsTryingAllChoicesOnSmallGraphs) {
  const ProgramSolver solver = tested_solver();
  if (solver == nullptr) GTEST_SKIP() << "built without CBC (Debian: coinor-libcbc-dev)";
  const std::uint64_t seeds = test::kSanitized ? 40 : test::long_run() ? 1000 : 300;
  std::uint64_t infeasible = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LayoutGraph graph = random_graph(seed);
    const Bytes fewest = fewest_of_all(graph);
    EXPECT_LE(fewest_bytes(graph), fewest);
    EXPECT_EQ(least_bytes(graph, solver), fewest);
    const auto expected = best_of_all(graph);
    const auto found = best_layouts(graph, solver);
    ASSERT_EQ(found.has_value(), expected.has_value());
    infeasible += !expected;
    if (!expected) continue;
    EXPECT_EQ(found->time, expected->time);
    const ChosenLayouts told = layouts_of(graph, found->choices);
    EXPECT_EQ(told.time, found->time);
    EXPECT_EQ(told.bytes, found->bytes);
    EXPECT_LE(found->bytes, graph.limit.value_or(found->bytes));
    LayoutGraph unlimited = graph;
    unlimited.limit.reset();
    limited += best_of_all(unlimited)->time < expected->time;
  }
  // What the limit is there for has been tried.
  EXPECT_GT(infeasible, seeds / 50);
  EXPECT_GT(limited, seeds / 10);
}

TEST(IntegerProgramOfLayouts, CountsTheMostOfWhatBlocksWorkOn) {
  LayoutGraph graph{.operators = {{{Time{1}, Bytes{1}, Bytes{7}}}, {{Time{1}, Bytes{2}, Bytes{5}}}},
                    .conversions = {},
                    .limit = {},
                    .blocks = {0, 1}};
  EXPECT_EQ(layouts_of(graph, {0, 0}).bytes, Bytes{10});
  graph.blocks.clear();  // both are of one block
  EXPECT_EQ(layouts_of(graph, {0, 0}).bytes, Bytes{15});
}

TEST(IntegerProgramOfLayouts, TakesTheFirstOfChoicesThatAreAlike) {
  const LayoutGraph graph{.operators = {{{Time{5}, Bytes{1}, {}}, {Time{3}, Bytes{2}, {}}, {Time{3}, Bytes{2}, {}}},
                                        {{Time{1}, Bytes{1}, {}}, {Time{1}, Bytes{1}, {}}}},
                          .conversions = {}};
  const auto never = [](const ZeroOneProgram&, std::vector<double>&, std::string&) { return false; };
  EXPECT_EQ(best_layouts(graph, never)->choices, (std::vector<std::uint32_t>{1, 0}));
}

TEST(IntegerProgramOfLayouts, SaysWhatTheSolverSays) {
  const LayoutGraph graph{.operators = {{{Time{5}, {}, {}}, {Time{3}, {}, {}}}, {{Time{5}, {}, {}}, {Time{3}, {}, {}}}},
                          .conversions = {{.from = 0, .to = 1, .times = {{Time{0}, Time{9}}, {Time{9}, Time{8}}}}}};
  const auto fails = [](const ZeroOneProgram&, std::vector<double>&, std::string& error) {
    error = "out of patience";
    return false;
  };
  EXPECT_THROW(best_layouts(graph, fails), std::runtime_error);
}

}  // namespace
}  // namespace stepcast::search
