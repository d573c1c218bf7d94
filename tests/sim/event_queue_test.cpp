#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace stepcast::sim {
namespace {

TEST(EventQueue, TiesRunInTheOrderTheyWereScheduled) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.schedule(Time{i % 3}, {0, i});
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(queue.take().subject);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t time = 0; time < 3; ++time) {
    for (std::uint32_t i = time; i < 100; i += 3) expected.push_back(i);
  }
  EXPECT_EQ(order, expected);
}

TEST(EventQueue, TheClockIsTheTimeOfTheLastEventTaken) {
  EventQueue queue;
  EXPECT_EQ(queue.now(), Time{});
  queue.schedule(Time{7}, {});
  EXPECT_EQ(queue.now(), Time{});
  queue.take();
  EXPECT_EQ(queue.now(), Time{7});
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, AnEventMayBeScheduledNowAndRunsAfterThoseAlreadyThere) {
  EventQueue queue;
  queue.schedule(Time{5}, {0, 1});
  queue.schedule(Time{5}, {0, 2});
  EXPECT_EQ(queue.take().subject, 1u);
  EXPECT_TRUE(queue.more_now());
  queue.schedule(Time{5}, {0, 3});
  EXPECT_EQ(queue.take().subject, 2u);
  EXPECT_EQ(queue.take().subject, 3u);
  EXPECT_FALSE(queue.more_now());
  queue.schedule(Time{5}, {0, 4});  // the instant is empty but not over
  EXPECT_TRUE(queue.more_now());
  EXPECT_EQ(queue.take().subject, 4u);
  EXPECT_EQ(queue.now(), Time{5});
}

TEST(EventQueue, ThePastIsRefused) {
  EventQueue queue;
  queue.schedule(Time{5}, {});
  queue.take();
  EXPECT_THROW(queue.schedule(Time{4}, {}), std::logic_error);
  EXPECT_THROW(queue.schedule(Time{-1}, {}), std::logic_error);
  EXPECT_THROW(queue.take(), std::logic_error);
}

TEST(EventQueue, AgreesWithAStableSortOnRandomSchedules) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const std::int64_t spread = std::int64_t{1} << (random() % 40);
    EventQueue queue;
    std::vector<std::pair<Time, std::uint32_t>> waiting;  // the oracle: kept in order by a stable sort
    std::uint32_t next = 0;
    for (int step = 0; step < 500; ++step) {
      if (waiting.empty() || random() % 5 < 3) {
        const Time at = queue.now() + Time{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread))};
        queue.schedule(at, {7, next});
        waiting.emplace_back(at, next++);
        std::stable_sort(waiting.begin(), waiting.end(), [](auto& a, auto& b) { return a.first < b.first; });
      } else {
        const Event event = queue.take();
        ASSERT_EQ(event, (Event{7, waiting.front().second})) << "seed " << seed << " step " << step;
        ASSERT_EQ(queue.now(), waiting.front().first) << "seed " << seed << " step " << step;
        waiting.erase(waiting.begin());
      }
      ASSERT_EQ(queue.empty(), waiting.empty()) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace stepcast::sim
