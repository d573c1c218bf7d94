#include "language/core/unit_meant.h"

#include <gtest/gtest.h>

namespace stepcast::language {
namespace {

using Kind = Type::Kind;

TEST(UnitMeant, OfBandwidthTellsBitsFromBytes) {
  const auto meant = [](const char* text) { return unit_meant(Kind::bandwidth, text); };
  EXPECT_EQ(meant("200Gbps"), "; did you mean '200 Gbit/s'?");
  EXPECT_EQ(meant("200 Gb/s"), "; did you mean '200 Gbit/s'?");
  EXPECT_EQ(meant("200 Gbits/s"), "; did you mean '200 Gbit/s'?");
  EXPECT_EQ(meant("200 gigabit/sec"), "; did you mean '200 Gbit/s'?");
  EXPECT_EQ(meant("25GBps"), "; did you mean '25 GB/s'?");
  EXPECT_EQ(meant("25 GBytes/s"), "; did you mean '25 GB/s'?");
  EXPECT_EQ(meant("25 GB"), "; did you mean '25 GB/s'?");
  EXPECT_EQ(meant("25 GIB/s"), "; did you mean '25 GiB/s'?");
  EXPECT_EQ(meant("100 KB/s"), "; did you mean '100 kB/s'?");
}

TEST(UnitMeant, NamesBothReadingsOfWhatPeopleMeanEitherBy) {
  EXPECT_EQ(unit_meant(Kind::bandwidth, "10G"), "; did you mean '10 Gbit/s' or '10 GB/s'?");
  EXPECT_EQ(unit_meant(Kind::bandwidth, "10 gb/s"), "; did you mean '10 Gbit/s' or '10 GB/s'?");
  EXPECT_EQ(unit_meant(Kind::bytes, "1KB"), "; did you mean '1 kB' or '1 KiB'?");
  EXPECT_EQ(unit_meant(Kind::bytes, "1 K"), "; did you mean '1 kB' or '1 KiB'?");
  EXPECT_EQ(unit_meant(Kind::bytes, "16G"), "; did you mean '16 GB' or '16 GiB'?");
  EXPECT_EQ(unit_meant(Kind::bytes, "16gb"), "; did you mean '16 GB' or '16 GiB'?");
}

TEST(UnitMeant, OfSizesTimesAndRates) {
  EXPECT_EQ(unit_meant(Kind::bytes, "80 GIB"), "; did you mean '80 GiB'?");
  EXPECT_EQ(unit_meant(Kind::bytes, "80 bytes"), "; did you mean '80 B'?");
  EXPECT_EQ(unit_meant(Kind::time, "1.3µs"), "; did you mean '1.3 us'?");
  EXPECT_EQ(unit_meant(Kind::time, "1.3 μs"), "; did you mean '1.3 us'?");
  EXPECT_EQ(unit_meant(Kind::time, "3 usec"), "; did you mean '3 us'?");
  EXPECT_EQ(unit_meant(Kind::time, "2 seconds"), "; did you mean '2 s'?");
  EXPECT_EQ(unit_meant(Kind::time, "5 MS"), "; did you mean '5 ms'?");
  EXPECT_EQ(unit_meant(Kind::flop_rate, "312TFLOPS"), "; did you mean '312 TFLOP/s'?");
  EXPECT_EQ(unit_meant(Kind::flop_rate, "312 tflops/s"), "; did you mean '312 TFLOP/s'?");
  EXPECT_EQ(unit_meant(Kind::flop_rate, "1.2 PF"), "; did you mean '1.2 PFLOP/s'?");
  EXPECT_EQ(unit_meant(Kind::flop_rate, "312T"), "; did you mean '312 TFLOP/s'?");
  EXPECT_EQ(unit_meant(Kind::power, "700 watts"), "; did you mean '700 W'?");
  EXPECT_EQ(unit_meant(Kind::power, "1.2KW"), "; did you mean '1.2 kW'?");
  EXPECT_EQ(unit_meant(Kind::duration, "5 d"), "; did you mean '5 days'?");
  EXPECT_EQ(unit_meant(Kind::duration, "50000 hours"), "; did you mean '50000 h'?");
  EXPECT_EQ(unit_meant(Kind::duration, "50 ms"), "");
}

TEST(UnitMeant, SaysNothingWhereTheUnitIsRight) {
  EXPECT_EQ(unit_meant(Kind::bytes, "0B"), "");
  EXPECT_EQ(unit_meant(Kind::bandwidth, "0 GB/s"), "");
}

TEST(UnitMeant, SaysNothingWhereNobodyCouldKnow) {
  for (const char* text : {"", "fast", "25", "25 parsecs", "GB/s", "1.2.3 GB", "-5 GBps", "25 QB/s"})
    for (const Kind kind : {Kind::bandwidth, Kind::bytes, Kind::time, Kind::flop_rate, Kind::power, Kind::duration})
      EXPECT_EQ(unit_meant(kind, text), "") << text;
}

}  // namespace
}  // namespace stepcast::language
