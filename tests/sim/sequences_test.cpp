// A sequence is the same as its legs as tasks of their own.
#include "sim/sequences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sim/executor.h"

namespace stepcast::sim {
namespace {

/// The legs as a sequence, or as work and transfers that come after each other.
TaskId add_legs(TaskGraph& graph, StreamId stream, const std::vector<Leg>& legs, bool as_sequence) {
  if (as_sequence) return graph.sequence(std::span(&stream, 1), graph.add_sequence(legs));
  TaskId begun = graph.work(stream, {});
  for (const Leg& leg : legs) {
    TaskId moved = begun;
    const TaskId worked = graph.work(stream, leg.work);
    for (const RoutedBytes& transfer : leg.transfers) {
      const TaskId next = graph.transfer(transfer.route, transfer.bytes);
      graph.after(next, moved);
      moved = next;
    }
    begun = graph.work(stream, {});
    graph.after(begun, worked);
    graph.after(begun, moved);
  }
  return begun;
}

struct Ran {
  Timeline timeline;
  std::vector<Time> ends;
};

/// Streams of sequences and lonely transfers over some of the same resources, all drawn from `seed`.
Ran run_random(unsigned seed, bool as_sequence) {
  std::mt19937 random(seed);
  const auto draw = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  TaskGraph graph;
  std::vector<ResourceId> resources;
  for (int i = 0; i < 4; ++i) resources.push_back(graph.add_resource({kPicosecondsPerSecond}));
  std::vector<RouteId> routes;
  for (int i = 0; i < 6; ++i) {
    Route route{.uses = {}, .latency = Time{draw(2) * draw(500)}, .limit = {kPicosecondsPerSecond}};
    const std::int64_t first = draw(5);  // 4: none
    if (first < 4) route.uses.push_back({resources[static_cast<std::size_t>(first)], 1.0});
    if (first < 3 && draw(2) == 0) route.uses.push_back({resources[static_cast<std::size_t>(first) + 1], 0.5});
    routes.push_back(graph.add_route(route));
  }
  Ran ran;
  std::vector<TaskId> ends;
  const std::int64_t streams = 1 + draw(4);
  for (std::int64_t s = 0; s < streams; ++s) {
    const StreamId stream = graph.add_stream();
    for (std::int64_t tasks = 1 + draw(5); tasks > 0; --tasks) {
      graph.work(stream, Time{draw(3) * draw(2'000)});
      std::vector<Leg> legs(static_cast<std::size_t>(draw(6)));
      for (Leg& leg : legs) {
        leg.work = Time{draw(2) * draw(3'000)};
        for (std::int64_t n = draw(3); n > 0; --n)
          leg.transfers.push_back({routes[static_cast<std::size_t>(draw(6))], Bytes{draw(4) * draw(1'000)}});
      }
      ends.push_back(add_legs(graph, stream, legs, as_sequence));
      if (draw(3) == 0)
        ends.push_back(graph.transfer(stream, routes[static_cast<std::size_t>(draw(6))], {draw(2'000)}));
    }
  }
  ran.timeline = run(graph);
  for (const TaskId end : ends) ran.ends.push_back(ran.timeline.finish[index(end)]);
  return ran;
}

TEST(Sequences, EndWhenTheirLegsWouldAsTasks) {
  for (unsigned seed = 1; seed <= 2'000; ++seed) {
    const Ran sequences = run_random(seed, true), tasks = run_random(seed, false);
    ASSERT_EQ(sequences.ends.size(), tasks.ends.size());
    // Ends are whole picoseconds: where rates are no whole numbers, one that comes one later moves those behind it.
    for (std::size_t i = 0; i < tasks.ends.size(); ++i)
      ASSERT_LE(std::abs((sequences.ends[i] - tasks.ends[i]).value), 4) << "seed " << seed << ", end " << i;
    for (std::size_t r = 0; r < tasks.timeline.carried.size(); ++r)
      ASSERT_NEAR(sequences.timeline.carried[r], tasks.timeline.carried[r], 8) << "seed " << seed;
  }
}

TEST(Sequences, TakeWhatTheirLegsTakeAlone) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  const RouteId route = graph.add_route(
      {.uses = {{graph.add_resource({kPicosecondsPerSecond})}}, .latency = Time{5}, .limit = {kPicosecondsPerSecond}});
  const SequenceId legs =
      graph.add_sequence({{Time{100}}, {Time{20}, {{route, Bytes{30}}}}, {{}, {{route, Bytes{7}}}}});
  const TaskId task = graph.sequence(std::span(&stream, 1), legs);
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.finish[index(task)], Time{100 + 35 + 12});
  EXPECT_EQ(timeline.carried, std::vector<double>{37});
}

TEST(Sequences, WakeWhenSomebodyComes) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream(), other = graph.add_stream();
  const RouteId route =
      graph.add_route({.uses = {{graph.add_resource({kPicosecondsPerSecond})}}, .limit = {kPicosecondsPerSecond}});
  const TaskId task =
      graph.sequence(std::span(&stream, 1), graph.add_sequence({{Time{100}}, {{}, {{route, Bytes{60}}}}}));
  graph.work(other, Time{120});  // the sequence has moved 20 of 60 by then
  const TaskId meets = graph.transfer(other, route, Bytes{10});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.finish[index(meets)], Time{140});  // at half the rate
  EXPECT_EQ(timeline.finish[index(task)], Time{170});
}

TEST(Sequences, WithoutLegsEndAtOnce) {
  TaskGraph graph;
  const StreamId stream = graph.add_stream();
  const TaskId task = graph.sequence(std::span(&stream, 1), graph.add_sequence({}));
  const TaskId next = graph.work(stream, Time{3});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.finish[index(task)], Time{});
  EXPECT_EQ(timeline.finish[index(next)], Time{3});
}

TEST(Sequences, OfUnknownRoutesAreRefused) {
  TaskGraph graph;
  EXPECT_THROW(graph.add_sequence({{Time{1}, {{RouteId{0}, Bytes{1}}}}}), std::logic_error);
  EXPECT_THROW(graph.add_sequence({{Time{-1}}}), std::logic_error);
  EXPECT_THROW(graph.sequence({}, SequenceId{0}), std::logic_error);
}

}  // namespace
}  // namespace stepcast::sim
