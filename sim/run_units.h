#pragma once

#include "sim/units.h"

namespace stepcast {

// Quantities of whole runs, which outlast the 106 days that a Time can hold.

using Duration = Quantity<struct DurationSeconds, double>;
using Power = Quantity<struct Watts, double>;
using Energy = Quantity<struct Joules, double>;

constexpr Duration seconds(double n) { return {n}; }
constexpr Duration hours(double n) { return {3600 * n}; }
constexpr Duration days(double n) { return {24 * 3600 * n}; }
constexpr Duration duration(Time t) { return {to_seconds(t)}; }

constexpr double to_hours(Duration d) { return d / hours(1); }
constexpr double to_days(Duration d) { return d / days(1); }

constexpr Energy operator*(Power power, Duration time) { return {power.value * time.value}; }
constexpr double to_kilowatt_hours(Energy energy) { return energy.value / 3.6e6; }

}  // namespace stepcast
