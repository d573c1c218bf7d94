#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/run_units.h"
#include "sim/units.h"

namespace stepcast {

/// Quantities as people write them: a number, at most one space, a unit: "1.3 us", "80 GiB", "25 GB/s",
/// "200 Gbit/s", "312 TFLOP/s". k, M, G, T, P, E are powers of 1000; Ki, Mi, Gi, Ti are powers of 1024.
/// Decimal digits with an optional fraction and exponent ("1.5e3 B"). Nothing for anything else: a bare number, an
/// unknown unit, a sign, nan, inf, hex, spaces around, or a value the type cannot hold. Times and bytes are rounded
/// to the nearest whole picosecond or byte; "0.5 B" and "0.5 ps", which can only be meant otherwise, are refused.
std::optional<Time> parse_time(std::string_view text);
std::optional<Bytes> parse_bytes(std::string_view text);
std::optional<Bandwidth> parse_bandwidth(std::string_view text);
std::optional<FlopRate> parse_flop_rate(std::string_view text);
/// "700 W", "1.2 kW"; "50000 h", "34 days".
std::optional<Power> parse_power(std::string_view text);
std::optional<Duration> parse_duration(std::string_view text);

/// The units each parser knows, smallest first, for error messages: "ps, ns, us, ms, s, min, h".
std::string_view time_units();
std::string_view bytes_units();
std::string_view bandwidth_units();
std::string_view flop_rate_units();
std::string_view power_units();
std::string_view duration_units();

/// For people: three significant digits and the largest unit that leaves a number of at least 1 ("51.2 GiB",
/// "25.0 GB/s"); whole picoseconds and bytes below the first step. Times turn to minutes at 120 s, to hours at
/// 120 min. Parsing it back gives the value within 0.5 %.
std::string text(Time time);
std::string text(Bytes bytes);
std::string text(Bandwidth rate);
std::string text(FlopRate rate);
std::string text(Power power);
std::string text(Energy energy);      ///< in Wh, kWh, MWh ...
std::string text(Duration duration);  ///< from ms on; hours turn to days at 48 h

}  // namespace stepcast
