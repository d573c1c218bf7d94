#include "sim/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sim/task_graph.h"
#include "sim/whole_bytes.h"

namespace stepcast {
namespace {

template <class A, class B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtracts = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept Compares = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Equates = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept Multiplies = requires(A a, B b) {
  a* b;
};

static_assert(Adds<Time, Time> && !Adds<Time, Bytes> && !Adds<Time, long> && !Adds<Bytes, Bandwidth>);
static_assert(Subtracts<Bytes, Bytes> && !Subtracts<Bytes, Time> && !Subtracts<FlopRate, Bandwidth>);
static_assert(Compares<Time, Time> && !Compares<Time, Bytes> && !Compares<Time, double>);
static_assert(Equates<Flops, Flops> && !Equates<Flops, FlopRate>);
static_assert(Multiplies<Time, std::int64_t> && Multiplies<std::int64_t, Time> && !Multiplies<Time, Time> &&
              !Multiplies<Time, Bytes>);
static_assert(!Adds<sim::TaskId, sim::TaskId> && !Adds<sim::TaskId, int>);
static_assert(Equates<sim::TaskId, sim::TaskId> && !Equates<sim::TaskId, sim::RouteId>);

TEST(Units, BytesOverBandwidthIsTheNearestPicosecond) {
  EXPECT_EQ(Bytes{1000} / Bandwidth{25e9}, picoseconds(40'000));
  EXPECT_EQ(Bytes{1} / Bandwidth{3e12}, picoseconds(0));
  EXPECT_EQ(Bytes{2} / Bandwidth{3e12}, picoseconds(1));
}

TEST(Units, FlopsOverFlopRateIsTheNearestPicosecond) { EXPECT_EQ(Flops{312e12} / FlopRate{312e12}, from_seconds(1)); }

TEST(Units, ATimePastTheClockIsRefused) {
  EXPECT_THROW(from_seconds(1e7), std::overflow_error);
  EXPECT_THROW(from_seconds(-1e7), std::overflow_error);
  EXPECT_THROW(from_seconds(std::numeric_limits<double>::quiet_NaN()), std::overflow_error);
  EXPECT_THROW(Bytes{1} / Bandwidth{0}, std::overflow_error);
}

template <class Attempt>
std::string error(Attempt attempt) {
  try {
    attempt();
  } catch (const std::overflow_error& e) {
    return e.what();
  }
  return "none";
}

TEST(Units, WholeQuantitiesThatLeaveTheirRangeAreRefusedByName) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Time longest{kMost}, earliest{-kMost};
  const std::string time = "a time of more than 106 days", size = "a size of more than 8 EiB";
  EXPECT_EQ(error([&] { return longest + Time{1}; }), time);
  EXPECT_EQ(error([&] { return earliest - Time{2}; }), time);
  EXPECT_EQ(error([&] { return longest * 2; }), time);
  EXPECT_EQ(error([&] { return 2 * longest; }), time);
  EXPECT_EQ(error([&] { return milliseconds(kMost / 1'000'000); }), time);
  EXPECT_EQ(error([&] {
              Time sum = longest;
              sum += Time{1};
              return sum;
            }),
            time);
  EXPECT_EQ(error([&] { return Bytes{kMost} + Bytes{1}; }), size);
  EXPECT_EQ(error([&] { return whole_bytes(1e19); }), size);
  EXPECT_EQ(error([&] { return longest + Time{0}; }), "none");
  EXPECT_EQ(whole_bytes(1e18 + 0.5), Bytes{1'000'000'000'000'000'000});
}

TEST(Units, LikeQuantitiesDivideToABareNumber) {
  EXPECT_DOUBLE_EQ(milliseconds(3) / microseconds(2), 1500.0);
  EXPECT_DOUBLE_EQ(to_seconds(milliseconds(5)), 0.005);
}

}  // namespace
}  // namespace stepcast
