#include "app/sweep/in_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace stepcast::app {
namespace {

TEST(InOrder, ResultsAreTakenOnceAndInOrderOnAnyNumberOfThreads) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    std::vector<std::size_t> taken;
    in_order(
        10000, threads,
        [&](unsigned worker, std::size_t i) {
          EXPECT_LT(worker, threads);
          if (i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          return 3 * i;
        },
        [&](std::size_t i, std::size_t result) {
          EXPECT_EQ(result, 3 * i);
          taken.push_back(i);
        });
    std::vector<std::size_t> all(10000);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(taken, all) << threads;
  }
}

TEST(InOrder, OneSlowResultDoesNotMakeAllOthersWaitInMemory) {
  std::atomic<std::size_t> furthest{0};
  std::size_t ahead = 0;
  in_order(
      20000, 4,
      [&](unsigned, std::size_t i) {
        if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::size_t before = furthest;
        while (before < i && !furthest.compare_exchange_weak(before, i)) continue;
        return i;
      },
      [&](std::size_t i, std::size_t) {
        if (i == 0) ahead = furthest;
      });
  EXPECT_LE(ahead, 4096u);
}

TEST(InOrder, TheFirstExceptionStopsAllAndIsThrown) {
  for (const unsigned threads : {1u, 4u}) {
    std::size_t taken = 0;
    const auto run = [&] {
      in_order(
          1000, threads,
          [](unsigned, std::size_t i) -> int {
            if (i == 10) throw std::runtime_error("ten");
            return 0;
          },
          [&](std::size_t, int) { ++taken; });
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_LE(taken, 10u);
    const auto refuse = [&] {
      in_order(
          1000, threads, [](unsigned, std::size_t) { return 0; },
          [](std::size_t i, int) {
            if (i == 5) throw std::runtime_error("a full disk");
          });
    };
    EXPECT_THROW(refuse(), std::runtime_error);
  }
}

TEST(InOrder, OfNothingThereIsNothing) {
  in_order(
      0, 4, [](unsigned, std::size_t) { return 0; }, [](std::size_t, int) { FAIL(); });
}

}  // namespace
}  // namespace stepcast::app
