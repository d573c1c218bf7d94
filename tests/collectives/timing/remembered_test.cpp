#include "collectives/timing/remembered.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stepcast::collectives {
namespace {

std::size_t bytes_of(const std::string& text) { return text.size(); }

TEST(Remembered, WorksOutEachEntryOnceAndLeavesItWhereItIs) {
  Remembered<int, std::string> table(bytes_of);
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  const std::string* const first = &table.of(7, make);
  for (int key = 100; key < 200; ++key) table.of(key, make);
  EXPECT_EQ(*first, "1");
  EXPECT_EQ(&table.of(7, make), first);
  EXPECT_EQ(made, 101);
  EXPECT_EQ(table.bytes(), 9u + 90 * 2 + 2 * 3);  // "1" to "101"
}

TEST(Remembered, LetsOthersWaitForWhoAskedFirst) {
  constexpr std::size_t kThreads = 4;
  Remembered<int, std::string> table(bytes_of);
  std::atomic<int> made = 0;
  std::latch all_are_here(kThreads);
  std::vector<const std::string*> found(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        all_are_here.arrive_and_wait();
        found[i] = &table.of(1, [&] { return std::to_string(++made); });
      });
    }
  }
  EXPECT_EQ(made, 1);
  for (const std::string* each : found) EXPECT_EQ(each, found.front());
}

TEST(Remembered, IsWorkedOutByTheNextWhereTheFirstFails) {
  Remembered<int, std::string> table(bytes_of);
  std::atomic<bool> asked = false;
  std::jthread second;
  const auto fails = [&]() -> std::string {
    second = std::jthread([&] {
      asked = true;
      EXPECT_EQ(table.of(1, [] { return std::string("by the second"); }), "by the second");
    });
    while (!asked) std::this_thread::yield();
    throw std::runtime_error("the first fails");
  };
  EXPECT_THROW(table.of(1, fails), std::runtime_error);
  second.join();
  EXPECT_EQ(table.of(1, [] { return std::string("never"); }), "by the second");
  EXPECT_EQ(table.bytes(), std::string("by the second").size());
}

TEST(Remembered, MayAskForAnotherEntryWhileOneIsWorkedOut) {
  Remembered<int, std::string> table(bytes_of);
  EXPECT_EQ(table.of(2, [&] { return table.of(1, [] { return std::string("a"); }) + "b"; }), "ab");
  EXPECT_EQ(table.of(1, [] { return std::string("never"); }), "a");
}

}  // namespace
}  // namespace stepcast::collectives
