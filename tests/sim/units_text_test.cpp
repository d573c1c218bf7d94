#include "sim/units_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace stepcast {
namespace {

TEST(UnitsText, ReadsTimes) {
  EXPECT_EQ(parse_time("5 ps"), picoseconds(5));
  EXPECT_EQ(parse_time("10 ns"), nanoseconds(10));
  EXPECT_EQ(parse_time("1.3 us"), nanoseconds(1300));
  EXPECT_EQ(parse_time("2 ms"), milliseconds(2));
  EXPECT_EQ(parse_time("2ms"), milliseconds(2));
  EXPECT_EQ(parse_time("3 s"), milliseconds(3000));
  EXPECT_EQ(parse_time("4 min"), milliseconds(240'000));
  EXPECT_EQ(parse_time("1 h"), milliseconds(3'600'000));
  EXPECT_EQ(parse_time("0 s"), Time{});
  EXPECT_EQ(parse_time("1.5e3 ns"), nanoseconds(1500));
}

TEST(UnitsText, ReadsBytes) {
  EXPECT_EQ(parse_bytes("512 B"), Bytes{512});
  EXPECT_EQ(parse_bytes("4 kB"), Bytes{4'000});
  EXPECT_EQ(parse_bytes("4 MB"), Bytes{4'000'000});
  EXPECT_EQ(parse_bytes("80 GB"), Bytes{80'000'000'000});
  EXPECT_EQ(parse_bytes("1 TB"), Bytes{1'000'000'000'000});
  EXPECT_EQ(parse_bytes("4 KiB"), Bytes{4096});
  EXPECT_EQ(parse_bytes("4 MiB"), Bytes{4 << 20});
  EXPECT_EQ(parse_bytes("1.5 GiB"), Bytes{3LL << 29});
  EXPECT_EQ(parse_bytes("2 TiB"), Bytes{2LL << 40});
  EXPECT_EQ(parse_bytes("9007199254740993 B"), Bytes{9007199254740993});  // 2^53 + 1: no double holds it
  EXPECT_EQ(parse_bytes("010 B"), Bytes{10});                             // not octal
}

TEST(UnitsText, ReadsBandwidths) {
  EXPECT_EQ(parse_bandwidth("25 GB/s"), Bandwidth{25e9});
  EXPECT_EQ(parse_bandwidth("200 Gbit/s"), Bandwidth{25e9});
  EXPECT_EQ(parse_bandwidth("8 Mbit/s"), Bandwidth{1e6});
  EXPECT_EQ(parse_bandwidth("1.6 Tbit/s"), Bandwidth{200e9});
  EXPECT_EQ(parse_bandwidth("2 GiB/s"), Bandwidth{2147483648.0});
  EXPECT_EQ(parse_bandwidth("1 B/s"), Bandwidth{1});
  EXPECT_EQ(parse_bandwidth("8 bit/s"), Bandwidth{1});
}

TEST(UnitsText, ReadsFlopRates) {
  EXPECT_EQ(parse_flop_rate("312 TFLOP/s"), FlopRate{312e12});
  EXPECT_EQ(parse_flop_rate("19.5 TFLOP/s"), FlopRate{19.5e12});
  EXPECT_EQ(parse_flop_rate("900 GFLOP/s"), FlopRate{900e9});
  EXPECT_EQ(parse_flop_rate("1 PFLOP/s"), FlopRate{1e15});
  EXPECT_EQ(parse_flop_rate("1EFLOP/s"), FlopRate{1e18});
}

TEST(UnitsText, ReadsPowersAndDurations) {
  EXPECT_EQ(parse_power("700 W"), Power{700});
  EXPECT_EQ(parse_power("1.2kW"), Power{1200});
  EXPECT_EQ(parse_duration("50000 h"), hours(50'000));
  EXPECT_EQ(parse_duration("3.5 days"), days(3.5));
  EXPECT_EQ(parse_duration("90 s"), seconds(90));
  for (const char* const text : {"", "5", "-5 W", "5 w", "5 kWh", "1e400 W"})
    EXPECT_EQ(parse_power(text), std::nullopt);
  for (const char* const text : {"", "5", "-5 h", "5 d", "5 ms", "inf h"})
    EXPECT_EQ(parse_duration(text), std::nullopt);
}

TEST(UnitsText, WritesWhatWholeRunsTake) {
  EXPECT_EQ(text(days(34)), "34.0 days");
  EXPECT_EQ(text(hours(47)), "47.0 h");
  EXPECT_EQ(text(seconds(0.25)), "250 ms");
  EXPECT_EQ(text(Power{6'400}), "6.40 kW");
  EXPECT_EQ(text(Power{1000} * hours(433'196)), "433 MWh");
  EXPECT_DOUBLE_EQ(to_kilowatt_hours(Power{500} * hours(3)), 1.5);
}

TEST(UnitsText, RefusesWhatIsNoQuantity) {
  for (const char* const text : {"",
                                 " ",
                                 "5",
                                 "5 ",
                                 " 5 B",
                                 "5  B",
                                 "5 B ",
                                 "B",
                                 "-5 B",
                                 "+5 B",
                                 "- 5 B",
                                 "nan B",
                                 "inf B",
                                 "0x10 B",
                                 "5 b",
                                 "5 gb",
                                 "5 KB",
                                 "5 GB/s",
                                 "5 s",
                                 "5,000 B",
                                 "5_000 B",
                                 "1e B",
                                 "1e400 B",
                                 "1e-400 GB",
                                 "0.5 B",
                                 "1e19 B",
                                 "9223372036854775808 B",
                                 "10000000 TiB",
                                 "5 B B",
                                 "5\tB",
                                 "5.5.5 B",
                                 ".5 kB",
                                 "1.5e B"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
  }
  for (const char* const text : {"", "5", "5 S", "5 sec", "5 m", "-1 s", "nan s", "inf s", "0x1p3 s", "1e300 s",
                                 "0.5 ps", "2563 h", "9300000 s", "5 B", "5 us/s"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << '"' << text << '"';
  }
  for (const char* const text : {"", "5", "5 GB", "5 Gb/s", "5 Gbps", "-5 GB/s", "inf GB/s", "nan GB/s", "1e308 GB/s",
                                 "1e400 B/s", "5 GB /s", "5 GB/ s", "0x5 GB/s", "5 TFLOP/s"}) {
    EXPECT_EQ(parse_bandwidth(text), std::nullopt) << '"' << text << '"';
  }
  for (const char* const text : {"", "5", "5 TFLOPS", "5 TFLOPs", "5 TFLOP", "-5 TFLOP/s", "nan TFLOP/s", "inf TFLOP/s",
                                 "1e300 PFLOP/s", "5 GB/s"}) {
    EXPECT_EQ(parse_flop_rate(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(UnitsText, ReadsOnlyTheTextItWasGiven) {
  const std::string_view whole = "25 GB/s";
  EXPECT_EQ(parse_bytes(whole.substr(0, 5)), Bytes{25'000'000'000});
  EXPECT_EQ(parse_bytes(whole.substr(0, 4)), std::nullopt);
}

TEST(UnitsText, NamesTheUnitsItKnows) {
  EXPECT_EQ(time_units(), "ps, ns, us, ms, s, min, h");
  EXPECT_EQ(bytes_units(), "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
  EXPECT_NE(bandwidth_units().find("Gbit/s"), std::string_view::npos);
  EXPECT_NE(flop_rate_units().find("TFLOP/s"), std::string_view::npos);
  EXPECT_EQ(power_units(), "W, kW, MW");
  EXPECT_EQ(duration_units(), "s, min, h, days");
}

TEST(UnitsText, WritesThreeDigitsAndTheLargestUnit) {
  EXPECT_EQ(text(picoseconds(0)), "0 ps");
  EXPECT_EQ(text(picoseconds(999)), "999 ps");
  EXPECT_EQ(text(picoseconds(1300)), "1.30 ns");
  EXPECT_EQ(text(picoseconds(999'499)), "999 ns");
  EXPECT_EQ(text(picoseconds(999'500)), "1.00 us");
  EXPECT_EQ(text(microseconds(12'340)), "12.3 ms");
  EXPECT_EQ(text(milliseconds(76'800)), "76.8 s");
  EXPECT_EQ(text(milliseconds(119'000)), "119 s");
  EXPECT_EQ(text(milliseconds(150'000)), "2.50 min");
  EXPECT_EQ(text(milliseconds(36'000'000)), "10.0 h");
  EXPECT_EQ(text(Time{-2500}), "-2.50 ns");

  EXPECT_EQ(text(Bytes{512}), "512 B");
  EXPECT_EQ(text(Bytes{1536}), "1.50 KiB");
  EXPECT_EQ(text(Bytes{54'975'581'389}), "51.2 GiB");
  EXPECT_EQ(text(Bytes{1LL << 40}), "1.00 TiB");
  EXPECT_EQ(text(Bytes{(1LL << 30) - 1}), "1.00 GiB");

  EXPECT_EQ(text(Bandwidth{25e9}), "25.0 GB/s");
  EXPECT_EQ(text(Bandwidth{2.039e12}), "2.04 TB/s");
  EXPECT_EQ(text(Bandwidth{0}), "0 B/s");
  EXPECT_EQ(text(Bandwidth{9.999e9}), "10.0 GB/s");
  EXPECT_EQ(text(FlopRate{312e12}), "312 TFLOP/s");
  EXPECT_EQ(text(FlopRate{19.5e12}), "19.5 TFLOP/s");
}

TEST(UnitsText, ReadsBackWhatItWrites) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const double size = std::exp(std::uniform_real_distribution(0.0, 42.0)(random));  // to 1.7e18
    const Time time{static_cast<std::int64_t>(size)};
    const Bytes bytes{static_cast<std::int64_t>(size)};
    const double tolerance = 0.005;
    const auto near = [&](double read, double written) { return std::abs(read - written) <= tolerance * written; };
    ASSERT_TRUE(parse_time(text(time)) &&
                near(static_cast<double>(parse_time(text(time))->value), static_cast<double>(time.value)))
        << "seed " << seed << ": " << text(time);
    ASSERT_TRUE(parse_bytes(text(bytes)) &&
                near(static_cast<double>(parse_bytes(text(bytes))->value), static_cast<double>(bytes.value)))
        << "seed " << seed << ": " << text(bytes);
    ASSERT_TRUE(parse_bandwidth(text(Bandwidth{size})) && near(parse_bandwidth(text(Bandwidth{size}))->value, size))
        << "seed " << seed << ": " << text(Bandwidth{size});
    ASSERT_TRUE(parse_flop_rate(text(FlopRate{size})) && near(parse_flop_rate(text(FlopRate{size}))->value, size))
        << "seed " << seed << ": " << text(FlopRate{size});
  }
}

}  // namespace
}  // namespace stepcast
