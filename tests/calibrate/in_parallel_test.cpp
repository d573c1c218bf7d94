#include "calibrate/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stepcast::calibrate {
namespace {

TEST(InParallel, CallsEachNumberOnce) {
  for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
    std::vector<std::atomic<int>> calls(count);
    in_parallel(count, [&](std::size_t i) { ++calls.at(i); });
    for (const std::atomic<int>& each : calls) EXPECT_EQ(each, 1);
  }
}

TEST(InParallel, HasAsManyThreadsAsAreAllowed) {
  const MostThreads three(3);
  std::barrier<> together(3);  // passed by three threads that call at the same time, or never
  in_parallel(3, [&](std::size_t) { together.arrive_and_wait(); });

  const MostThreads one(1);
  std::set<std::thread::id> threads;
  in_parallel(100, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(InParallel, ALimitEndsWithTheBlockThatSetIt) {
  const MostThreads two(2);
  { const MostThreads one(1); }
  std::barrier<> together(2);
  in_parallel(2, [&](std::size_t) { together.arrive_and_wait(); });
}

TEST(InParallel, WithinACallGoesOneByOne) {
  const MostThreads two(2);
  in_parallel(2, [](std::size_t) {
    std::set<std::thread::id> threads;
    in_parallel(10, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
    EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  });
}

TEST(InParallel, AnExceptionIsThrownOnAndCallsThatHaveNotBegunAreLeftOut) {
  const MostThreads one(1);
  int calls = 0;
  const auto third_throws = [&](std::size_t i) {
    ++calls;
    if (i == 2) throw std::runtime_error("the third");
  };
  EXPECT_THROW(in_parallel(10, third_throws), std::runtime_error);
  EXPECT_EQ(calls, 3);
  in_parallel(1, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace stepcast::calibrate
