#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/spread.h"
#include "sim/units.h"

namespace stepcast::app {

/// One size: when the median flow and the last one have arrived, in seconds, over the hashings.
struct FlowRow {
  Bytes size{};
  HashingSpread median, last;
};

struct FlowReport {
  std::string pattern;  ///< its name, or the table's
  std::uint32_t ranks = 0, flows = 0;
  std::uint32_t hashings = 0;  ///< that were tried; 0: the fabric's own alone
  std::string software{};      ///< the stack
  std::vector<FlowRow> rows{};
};

/// Times in us for people; in seconds for programs.
std::string flow_table(const FlowReport& report);
std::string flow_json(const FlowReport& report);
std::string flow_csv(const FlowReport& report);

}  // namespace stepcast::app
