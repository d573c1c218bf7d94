#pragma once

#include <map>
#include <string>
#include <vector>

#include "language/tables/curves.h"

namespace stepcast::app {

inline constexpr Bytes kMegabyte{1 << 20};  ///< errors are told below it and from there on

/// "4.2%", the median of these; "-" of none.
std::string median_percent(const std::vector<double>& errors);

/// Predicted beside recorded: a line per curve, and the medians over all points, of each stack and of all together.
class CurveErrors {
 public:
  CurveErrors();
  void add(const language::CurveRow& row, const std::vector<Time>& predicted);
  std::string text() const;

 private:
  struct PooledErrors {
    std::vector<double> small[2], large[2];  ///< errors below and from 1 MB; of held out curves, of fitted ones
  };

  static std::string lines(const std::string& what, const PooledErrors& pool);

  std::string text_;
  PooledErrors all_;
  std::map<std::string, PooledErrors> stacks_;
};

/// Each line after "# ".
std::string as_comments(const std::string& text);

}  // namespace stepcast::app
