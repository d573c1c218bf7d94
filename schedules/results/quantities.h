#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What a quantity is counted in where it is a bare number.
enum class Unit : char { seconds, bytes, flops_per_second, per_second, share, count };

/// How to get a quantity, in the type of its unit: a member of the forecast, a function of it, or a function of the
/// scenario where it is what was asked. An optional one may be absent.
using Reading = std::variant<Time Forecast::*, std::optional<Time> Forecast::*, FlopRate Forecast::*,
                             std::uint64_t Forecast::*, double Forecast::*, std::optional<double> Forecast::*,
                             Bytes (*)(const Forecast&), std::optional<double> (*)(const Forecast&),
                             std::optional<std::uint32_t> (*)(const Forecast&), std::uint32_t (*)(const Scenario&)>;

/// Which reports have a quantity besides JSON, which has all. As it stands: every one that can.
struct Places {
  static constexpr std::uint8_t kNoColumn = 0, kLastColumn = 255;
  std::uint8_t csv = kLastColumn;  ///< columns of CSV stand by this number, and in the table's order where it is equal
  bool line = true;                ///< in the text report; else one of its sentences or tables has the quantity
  bool failures = false;           ///< JSON of what could not be forecast, as null
  bool planned = false;            ///< said too of what was not simulated
};

/// One number of a forecast, as every report knows it.
struct ReportedQuantity {
  /// In JSON, in docs/results.schema.json and as a column of CSV. "fusion.bytes_saved" is the member "bytes_saved" of
  /// the object "fusion", which is null where its members are absent.
  std::string_view key;
  Unit unit;
  std::string_view title;  ///< names its line of the text report, describes it in the schema
  Reading read;
  Places places{};
  std::string_view absent{};  ///< what it means that there is none: the schema says so
};

/// Every quantity, in the order of JSON. A new one is a member of Forecast and a line of quantities.cpp.
std::span<const ReportedQuantity> quantities();

/// Of the fullest GPU.
Bytes peak_memory(const Forecast& forecast);

}  // namespace stepcast::schedules
