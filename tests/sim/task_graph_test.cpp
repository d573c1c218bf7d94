#include "sim/task_graph.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace stepcast::sim {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TaskGraph, AStreamChainsItsTasks) {
  TaskGraph graph;
  const StreamId a = graph.add_stream(), b = graph.add_stream();
  const TaskId first = graph.work(a, Time{1});
  const TaskId both = graph.work(std::array{a, b}, Time{1});
  const TaskId last = graph.work(b, Time{1});
  ASSERT_EQ(graph.dependencies().size(), 2u);
  EXPECT_EQ(graph.dependencies()[0].earlier, first);
  EXPECT_EQ(graph.dependencies()[0].later, both);
  EXPECT_EQ(graph.dependencies()[1].earlier, both);
  EXPECT_EQ(graph.dependencies()[1].later, last);
  EXPECT_EQ(graph.streams(), 2u);
}

TEST(TaskGraph, AStreamNamedTwiceIsOneStream) {
  TaskGraph graph;
  const StreamId a = graph.add_stream();
  graph.work(std::array{a, a}, Time{1});
  EXPECT_TRUE(graph.dependencies().empty());
}

TEST(TaskGraph, KeepsTagsAndAmounts) {
  TaskGraph graph;
  const RouteId route = graph.add_route({});
  const TaskId work = graph.work(graph.add_stream(), Time{5}, 17);
  const TaskId transfer = graph.transfer(route, Bytes{9}, 18);
  EXPECT_EQ(graph.tasks()[index(work)].tag, 17u);
  EXPECT_EQ(graph.tasks()[index(work)].amount, 5);
  EXPECT_EQ(graph.tasks()[index(work)].route, TaskGraph::kNoRoute);
  EXPECT_EQ(graph.tasks()[index(transfer)].tag, 18u);
  EXPECT_EQ(graph.tasks()[index(transfer)].amount, 9);
  EXPECT_EQ(graph.tasks()[index(transfer)].route, route);
}

TEST(TaskGraph, StoresAResourceOnceARoute) {
  TaskGraph graph;
  const ResourceId a = graph.add_resource(Bandwidth{1}), b = graph.add_resource(Bandwidth{1});
  graph.add_route({.uses = {{b, 0.5}, {a, 2}, {b, 0.25}}, .latency = Time{7}, .weight = 4});
  graph.add_route({.uses = {{a}}});
  ASSERT_EQ(graph.routes().size(), 2u);
  const Route route = graph.routes()[0];
  EXPECT_EQ(route.uses, (std::vector<Use>{{b, 0.75}, {a, 2}}));
  EXPECT_EQ(route.latency, Time{7});
  EXPECT_EQ(route.limit, Bandwidth{kInfinity});
  EXPECT_EQ(route.weight, 4);
}

TEST(TaskGraph, TakesRoutesThatOthersHaveToo) {
  Routes routes;
  const std::vector<Use> over_both{{ResourceId{0}}, {ResourceId{1}, 2}}, over_one{{ResourceId{1}}};
  routes.add(over_both, {.latency = Time{7}, .limit = Bandwidth{4}});
  routes.add(over_one, {.latency = Time{9}, .limit = Bandwidth{4}, .weight = 3});
  TaskGraph graph;
  graph.add_resource(Bandwidth{1});
  EXPECT_THROW(graph.set_routes(routes), std::logic_error);  // over a resource that is not there
  graph.add_resource(Bandwidth{1});
  graph.set_routes(routes.changed([](Routes::Terms terms) {
    terms.limit = terms.limit * 0.5;
    return terms;
  }));
  EXPECT_THROW(graph.set_routes(routes), std::logic_error);
  const Route one = graph.routes()[0], before = routes[0];
  EXPECT_EQ(one.uses, over_both);
  EXPECT_EQ(one.latency, Time{7});
  EXPECT_EQ(one.limit, Bandwidth{2});
  EXPECT_EQ(before.limit, Bandwidth{4});
  EXPECT_EQ(graph.routes().all_uses().data(), routes.all_uses().data());
  graph.add_route({.uses = {{ResourceId{0}}}});  // a route of its own: the others no longer know of it
  EXPECT_EQ(graph.routes().size(), 3u);
  EXPECT_EQ(routes.size(), 2u);
  EXPECT_EQ(graph.routes().weight(1), 3);
  EXPECT_EQ(graph.routes()[2].uses.size(), 1u);
}

TEST(TaskGraph, ABoundRouteCrossesBothAndItsTransfersMoveTheBytes) {
  TaskGraph graph;
  const ResourceId a = graph.add_resource(Bandwidth{1}), b = graph.add_resource(Bandwidth{1});
  const RouteId one = graph.add_route({.uses = {{a}}, .weight = 2}), other = graph.add_route({.uses = {{b}}});
  const TaskId moved = graph.transfer(one, Bytes{1}), kept = graph.transfer(other, Bytes{1});
  const TaskGraph::Bound bound{
      one, {.uses = {{b, 0.5}}, .latency = Time{3}, .limit = Bandwidth{9}, .weight = 3}, Bytes{5}};
  graph.bind(std::span(&bound, 1));
  const Route route = graph.routes()[index(one)], same = graph.routes()[index(other)];
  EXPECT_EQ(route.uses, (std::vector<Use>{{b, 0.5}, {a, 1}}));
  EXPECT_EQ(route.latency, Time{3});
  EXPECT_EQ(route.limit, Bandwidth{9});
  EXPECT_EQ(route.weight, 3);
  EXPECT_EQ(same.uses, (std::vector<Use>{{b, 1}}));
  EXPECT_EQ(graph.tasks()[index(moved)].amount, 5);
  EXPECT_EQ(graph.tasks()[index(kept)].amount, 1);
}

TEST(TaskGraph, RefusesWhatItsCallersMustNotAsk) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{1});
  EXPECT_THROW(graph.add_resource(Bandwidth{kInfinity}), std::logic_error);
  for (const double bad : {0.0, -1.0, kNan}) {
    EXPECT_THROW(graph.add_resource(Bandwidth{bad}), std::logic_error);
    EXPECT_THROW(graph.add_route({.uses = {{link, bad}}}), std::logic_error);
    EXPECT_THROW(graph.add_route({.limit = Bandwidth{bad}}), std::logic_error);
    EXPECT_THROW(graph.add_route({.weight = bad}), std::logic_error);
  }
  EXPECT_THROW(graph.add_route({.uses = {{link, kInfinity}}}), std::logic_error);
  EXPECT_THROW(graph.add_route({.weight = kInfinity}), std::logic_error);
  EXPECT_THROW(graph.add_route({.uses = {{ResourceId{1}}}}), std::logic_error);
  EXPECT_THROW(graph.add_route({.latency = Time{-1}}), std::logic_error);
  EXPECT_THROW(graph.transfer(RouteId{0}, Bytes{1}), std::logic_error);
  const RouteId route = graph.add_route({.uses = {{link}}});
  EXPECT_THROW(graph.transfer(route, Bytes{-1}), std::logic_error);
  EXPECT_THROW(graph.work(StreamId{0}, Time{1}), std::logic_error);
  EXPECT_THROW(graph.work(graph.add_stream(), Time{-1}), std::logic_error);
  EXPECT_TRUE(graph.tasks().empty());
}

}  // namespace
}  // namespace stepcast::sim
