// Closed forms: cases small enough to work out by hand.
#include "sim/executor.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>

namespace stepcast::sim {
namespace {

Time finish(const Timeline& timeline, TaskId task) { return timeline.finish[index(task)]; }
Time start(const Timeline& timeline, TaskId task) { return timeline.start[index(task)]; }

TEST(Executor, AnEmptyGraphEndsAtZero) { EXPECT_EQ(run(TaskGraph{}).end, Time{}); }

TEST(Executor, OneFlowTakesLatencyPlusBytesOverRate) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{25e9});
  const RouteId route = graph.add_route({.uses = {{link}}, .latency = microseconds(1)});
  const TaskId send = graph.transfer(route, Bytes{1'000'000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(start(timeline, send), Time{});
  EXPECT_EQ(finish(timeline, send), microseconds(1) + microseconds(40));
  EXPECT_EQ(timeline.end, finish(timeline, send));
  EXPECT_EQ(timeline.carried, std::vector<double>{1e6});
}

TEST(Executor, AFlowEndsAtTheFirstPicosecondAtWhichItsBytesHaveMoved) {
  TaskGraph graph;
  const RouteId three = graph.add_route({.limit = Bandwidth{3e12}});  // three bytes per picosecond
  std::vector<TaskId> sends;
  for (std::int64_t n = 1; n <= 7; ++n) sends.push_back(graph.transfer(three, Bytes{n}));
  const Timeline timeline = run(graph);
  for (std::int64_t n = 1; n <= 7; ++n) {
    EXPECT_EQ(finish(timeline, sends[static_cast<std::size_t>(n - 1)]), Time{(n + 2) / 3}) << n << " bytes";
  }
}

TEST(Executor, WholePicosecondsAreNotRoundedUpByTheDivision) {
  for (std::int64_t n = 1; n <= 10'000; ++n) {
    TaskGraph graph;
    graph.transfer(graph.add_route({.uses = {{graph.add_resource(Bandwidth{25e9})}}}), Bytes{n});
    ASSERT_EQ(run(graph).end, Time{40 * n}) << n << " bytes";
  }
}

TEST(Executor, AFlowOfDaysAloneTakesItsOwnTime) {
  for (const std::int64_t n : {10'000'000'000'001, 123'456'789'012'345'678, 200'000'000'000'000'000}) {
    TaskGraph graph;
    graph.transfer(graph.add_route({.uses = {{graph.add_resource({kPicosecondsPerSecond})}}}), Bytes{n});
    EXPECT_NEAR(static_cast<double>((run(graph).end - Time{n}).value), 0, 1e-15 * static_cast<double>(n));
  }
}

TEST(Executor, ProlongedWorkEndsLater) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  const TaskId first = graph.work(stream, Time{3});
  const TaskId second = graph.work(stream, Time{5});
  graph.prolong(first, Time{4});
  EXPECT_EQ(finish(run(graph), first), Time{7});
  EXPECT_EQ(finish(run(graph), second), Time{12});
  EXPECT_THROW(graph.prolong(first, Time{-1}), std::logic_error);
  EXPECT_THROW(graph.prolong(graph.transfer(graph.add_route({}), Bytes{1}), Time{1}), std::logic_error);
}

TEST(Executor, FlowsOnOneLinkShareItEqually) {
  for (std::uint32_t k = 1; k <= 64; ++k) {
    TaskGraph graph;
    const ResourceId link = graph.add_resource(Bandwidth{1e9});
    for (std::uint32_t i = 0; i < k; ++i) graph.transfer(graph.add_route({.uses = {{link}}}), Bytes{1000});
    const Timeline timeline = run(graph);
    for (const Time end : timeline.finish) EXPECT_EQ(end, microseconds(k)) << k << " flows";
  }
}

TEST(Executor, FlowsOnOneRouteShareItEqually) {
  TaskGraph graph;
  const RouteId route = graph.add_route({.uses = {{graph.add_resource(Bandwidth{1e9})}}});
  const TaskId small = graph.transfer(route, Bytes{1000}), large = graph.transfer(route, Bytes{3000}),
               middle = graph.transfer(route, Bytes{2000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, small), microseconds(3));   // 1000 bytes each
  EXPECT_EQ(finish(timeline, middle), microseconds(5));  // then 1000 more of two
  EXPECT_EQ(finish(timeline, large), microseconds(6));
}

TEST(Executor, AFlowThatComesLaterSlowsTheFirst) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{1e9});
  const RouteId now = graph.add_route({.uses = {{link}}}),
                later = graph.add_route({.uses = {{link}}, .latency = microseconds(1)});
  const TaskId first = graph.transfer(now, Bytes{2000}), second = graph.transfer(later, Bytes{2000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, first), microseconds(3));   // 1000 alone, 1000 at half
  EXPECT_EQ(finish(timeline, second), microseconds(4));  // 1000 at half, 1000 alone
}

TEST(Executor, ASmallFlowOvertakesAnEarlierOneOnTheSameRoute) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{1e9});
  const RouteId route = graph.add_route({.uses = {{link}}});
  const StreamId stream = graph.add_stream();
  graph.work(stream, microseconds(1));
  const TaskId large = graph.transfer(route, Bytes{4000}), small = graph.transfer(stream, route, Bytes{500});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, small), microseconds(2));
  EXPECT_EQ(finish(timeline, large), nanoseconds(4500));
}

TEST(Executor, ALimitLeavesTheRestToTheOthers) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{10e9});
  const TaskId capped = graph.transfer(graph.add_route({.uses = {{link}}, .limit = Bandwidth{1e9}}), Bytes{1000});
  const TaskId free = graph.transfer(graph.add_route({.uses = {{link}}}), Bytes{9000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, capped), microseconds(1));
  EXPECT_EQ(finish(timeline, free), microseconds(1));
}

TEST(Executor, ALimitIsPerFlow) {
  TaskGraph graph;
  const RouteId route = graph.add_route({.limit = Bandwidth{1e9}});
  const TaskId one = graph.transfer(route, Bytes{1000}), two = graph.transfer(route, Bytes{2000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, one), microseconds(1));
  EXPECT_EQ(finish(timeline, two), microseconds(2));
}

TEST(Executor, ALoadIsTakenFromTheCapacity) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{4e9});
  const TaskId send = graph.transfer(graph.add_route({.uses = {{link, 4.0}}}), Bytes{1000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, send), microseconds(1));
  EXPECT_EQ(timeline.carried, std::vector<double>{4000});
}

TEST(Executor, AResourceNamedTwiceCarriesBothLoads) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{3e9});
  const TaskId send = graph.transfer(graph.add_route({.uses = {{link, 1.0}, {link, 2.0}}}), Bytes{1000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, send), microseconds(1));
  EXPECT_EQ(timeline.carried, std::vector<double>{3000});
}

TEST(Executor, SharesAreInProportionToWeights) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{4e9});
  const TaskId heavy = graph.transfer(graph.add_route({.uses = {{link}}, .weight = 3}), Bytes{3000});
  const TaskId light = graph.transfer(graph.add_route({.uses = {{link}}, .weight = 1}), Bytes{2000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, heavy), microseconds(1));
  EXPECT_EQ(finish(timeline, light), nanoseconds(1250));  // 1000 at a quarter, 1000 alone
}

/// Links of 1, 2 and 4 GB/s, flow A over the first two, B over the last two, C over the first, D over the third.
/// Link 1 fills first: A = C = 0.5. Then link 2: B = 2 - 0.5 = 1.5; link 3 last: D = 4 - 1.5 = 2.5.
TEST(Executor, ThreeLinksFillOneAfterTheOther) {
  TaskGraph graph;
  const ResourceId one = graph.add_resource(Bandwidth{1e9}), two = graph.add_resource(Bandwidth{2e9}),
                   three = graph.add_resource(Bandwidth{4e9});
  const TaskId a = graph.transfer(graph.add_route({.uses = {{one}, {two}}}), Bytes{500});
  const TaskId b = graph.transfer(graph.add_route({.uses = {{two}, {three}}}), Bytes{1500});
  const TaskId c = graph.transfer(graph.add_route({.uses = {{one}}}), Bytes{500});
  const TaskId d = graph.transfer(graph.add_route({.uses = {{three}}}), Bytes{2500});
  const Timeline timeline = run(graph);
  for (const TaskId task : {a, b, c, d}) EXPECT_EQ(finish(timeline, task), microseconds(1)) << index(task);
}

TEST(Executor, ZeroBytesTakeTheLatencyAlone) {
  TaskGraph graph;
  const ResourceId link = graph.add_resource(Bandwidth{1});
  const TaskId late = graph.transfer(graph.add_route({.uses = {{link}}, .latency = microseconds(2)}), Bytes{0});
  const TaskId instant = graph.transfer(graph.add_route({.uses = {{link}}}), Bytes{0});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, late), microseconds(2));
  EXPECT_EQ(finish(timeline, instant), Time{});
  EXPECT_EQ(timeline.carried, std::vector<double>{0});
}

TEST(Executor, WorkOfNoDurationTakesNoTimeHoweverLongTheChain) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  graph.work(stream, microseconds(1));
  for (int i = 0; i < 1'000'000; ++i) graph.work(stream, Time{});
  EXPECT_EQ(run(graph).end, microseconds(1));
}

TEST(Executor, AStreamRunsItsTasksOneAtATimeInTheirOrder) {
  TaskGraph graph;
  const StreamId compute = graph.add_stream(), communication = graph.add_stream();
  const RouteId route = graph.add_route({.limit = Bandwidth{1e9}});
  const TaskId first = graph.work(compute, microseconds(5));
  const TaskId send = graph.transfer(communication, route, Bytes{2000});
  const TaskId both = graph.work(std::array{compute, communication}, microseconds(1));
  const TaskId next_send = graph.transfer(communication, route, Bytes{2000});
  const Timeline timeline = run(graph);
  EXPECT_EQ(finish(timeline, first), microseconds(5));
  EXPECT_EQ(finish(timeline, send), microseconds(2));
  EXPECT_EQ(start(timeline, both), microseconds(5));
  EXPECT_EQ(start(timeline, next_send), microseconds(6));
  EXPECT_EQ(finish(timeline, next_send), microseconds(8));
}

TEST(Executor, ADependencyMayPointForward) {
  TaskGraph graph;
  const StreamId a = graph.add_stream(), b = graph.add_stream();
  const TaskId later = graph.work(a, microseconds(1)), earlier = graph.work(b, microseconds(4));
  graph.after(later, earlier);
  const Timeline timeline = run(graph);
  EXPECT_EQ(start(timeline, later), microseconds(4));
  EXPECT_EQ(timeline.end, microseconds(5));
}

TEST(Executor, TheEndIsTheLastFinishAndNotALaterReminder) {
  TaskGraph graph;  // the first flow's end moves earlier when the second, which slows it, has gone
  const ResourceId link = graph.add_resource(Bandwidth{1e9});
  graph.transfer(graph.add_route({.uses = {{link}}}), Bytes{3000});
  graph.transfer(graph.add_route({.uses = {{link}}}), Bytes{1000});
  EXPECT_EQ(run(graph).end, microseconds(4));
}

TEST(Executor, TasksThatWaitForEachOtherAreNamed) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  graph.work(stream, Time{1});  // 0: runs
  const TaskId a = graph.work(graph.add_stream(), Time{1}), b = graph.work(graph.add_stream(), Time{1}),
               c = graph.work(graph.add_stream(), Time{1}), behind = graph.work(graph.add_stream(), Time{1});
  graph.after(b, a);
  graph.after(c, b);
  graph.after(a, c);
  graph.after(behind, c);
  graph.after(a, TaskId{0});
  try {
    run(graph);
    FAIL() << "no CyclicTasks";
  } catch (const CyclicTasks& error) {
    ASSERT_EQ(error.cycle.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const TaskId task = error.cycle[i], earlier = error.cycle[(i + 1) % 3];
      EXPECT_TRUE((task == a && earlier == c) || (task == b && earlier == a) || (task == c && earlier == b));
    }
    EXPECT_NE(std::string(error.what()).find("circle"), std::string::npos);
  }
}

TEST(Executor, ATaskAfterItselfIsACycleOfOne) {
  TaskGraph graph;
  const TaskId task = graph.work(graph.add_stream(), Time{1});
  graph.after(task, task);
  try {
    run(graph);
    FAIL() << "no CyclicTasks";
  } catch (const CyclicTasks& error) {
    EXPECT_EQ(error.cycle, std::vector{task});
  }
}

TEST(Executor, ALongCycleIsReportedWholeAndItsMessageShort) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  for (int i = 0; i < 100; ++i) graph.work(stream, Time{1});
  graph.after(TaskId{0}, TaskId{99});
  try {
    run(graph);
    FAIL() << "no CyclicTasks";
  } catch (const CyclicTasks& error) {
    EXPECT_EQ(error.cycle.size(), 100u);
    EXPECT_NE(std::string(error.what()).find("(100 tasks)"), std::string::npos);
  }
}

TEST(Executor, ADependencyOnATaskThatIsNotThereIsRefused) {
  TaskGraph graph;
  const TaskId task = graph.work(graph.add_stream(), Time{1});
  graph.after(task, TaskId{5});
  EXPECT_THROW(run(graph), std::logic_error);
}

TEST(Executor, ARunPastTheClockIsRefused) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  for (int i = 0; i < 2; ++i) graph.work(stream, Time{std::numeric_limits<std::int64_t>::max() - 1});
  EXPECT_THROW(run(graph), std::overflow_error);

  TaskGraph slow;
  slow.transfer(slow.add_route({.limit = Bandwidth{1e-3}}), Bytes{1'000'000});
  EXPECT_THROW(run(slow), std::overflow_error);
}

/// 2 (n - 1) steps of latency plus bytes over rate.
TEST(Executor, ARingOnOneSwitchTakesItsClosedForm) {
  for (std::uint32_t n = 2; n <= 17; ++n) {
    TaskGraph graph;
    std::vector<ResourceId> up, down;
    for (std::uint32_t r = 0; r < n; ++r) {
      up.push_back(graph.add_resource(Bandwidth{25e9}));
      down.push_back(graph.add_resource(Bandwidth{25e9}));
    }
    std::vector<TaskId> previous;
    for (std::uint32_t step = 0; step < 2 * (n - 1); ++step) {
      std::vector<TaskId> sends;
      for (std::uint32_t r = 0; r < n; ++r) {
        const RouteId route = graph.add_route({.uses = {{up[r]}, {down[(r + 1) % n]}}, .latency = microseconds(1)});
        sends.push_back(graph.transfer(route, Bytes{1000}));
        if (step == 0) continue;
        graph.after(sends.back(), previous[r]);
        graph.after(sends.back(), previous[(r + n - 1) % n]);
      }
      previous = sends;
    }
    EXPECT_EQ(run(graph).end, (microseconds(1) + nanoseconds(40)) * (2 * (n - 1))) << n << " ranks";
  }
}

}  // namespace
}  // namespace stepcast::sim
