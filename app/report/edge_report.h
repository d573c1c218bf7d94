#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/edge.h"
#include "search/space.h"

namespace stepcast::app {

/// A value that `--least` tries.
struct EdgeValue {
  double number = 0;  ///< in JSON and CSV
  std::string text;   ///< for people
};

/// The least value with which the fastest plan meets a target.
struct EdgeReport {
  search::Space space;
  std::string until;            ///< the target, as it was asked for
  std::string least;            ///< of what
  std::string_view counted_in;  ///< what the values are: "GPUs", "bytes" or "times as good"
  std::vector<EdgeValue> values;
  std::string which;  ///< the values in words, in which order they are tried, and why no others are
  search::TargetEdge edge;
};

std::string edge_table(const EdgeReport& report);
std::string edge_csv(const EdgeReport& report);
std::string edge_json(const EdgeReport& report);

}  // namespace stepcast::app
