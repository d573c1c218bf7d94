#include "app/curve_errors.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "calibrate/fit/statistics.h"
#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

constexpr Bytes kAll{std::int64_t{1} << 60};

}  // namespace

std::string median_percent(const std::vector<double>& errors) {
  const std::optional<double> middle = calibrate::median(errors);
  return middle ? fmt::format("{:.1f}%", 100 * *middle) : "-";
}

CurveErrors::CurveErrors() {
  text_ = fmt::format("{:<36} {:<9} {:>7} {:>7} {:>7} {:>7} {:>8}\n", "curve", "use", "< 1 MB", "worst", ">= 1 MB",
                      "worst", "largest");
}

void CurveErrors::add(const language::CurveRow& row, const std::vector<Time>& predicted) {
  const calibrate::Errors small = errors(row.curve, predicted, {1}, kMegabyte);
  const calibrate::Errors large = errors(row.curve, predicted, kMegabyte, kAll);
  const auto percent = [](const calibrate::Errors& e, double value) {
    return e.points == 0 ? std::string("-") : fmt::format("{:.1f}%", 100 * value);
  };
  text_ += fmt::format("{:<36} {:<9} {:>7} {:>7} {:>7} {:>7} {:>+7.1f}%\n", language::visible(row.curve.name),
                       row.fitted ? "fitted" : "held out", percent(small, small.median), percent(small, small.worst),
                       percent(large, large.median), percent(large, large.worst),
                       100 * (predicted.back() / row.curve.points.back().time - 1));
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double off = std::abs(predicted[i] / row.curve.points[i].time - 1);
    for (PooledErrors* pool : {&all_, &stacks_[row.software]}) {
      (row.curve.points[i].size < kMegabyte ? pool->small : pool->large)[row.fitted].push_back(off);
    }
  }
}

std::string CurveErrors::text() const {
  std::string all = text_;
  if (stacks_.size() > 1) {
    for (const auto& [name, pool] : stacks_) all += lines("median of all points of " + name, pool);
  }
  return all + lines("median of all points", all_);
}

std::string CurveErrors::lines(const std::string& what, const PooledErrors& pool) {
  std::string text;
  for (const bool fitted : {true, false}) {
    const std::vector<double>&small = pool.small[fitted], &large = pool.large[fitted];
    if (small.empty() && large.empty()) continue;
    text += fmt::format("{}, {}: {} below 1 MB ({} points), {} from 1 MB ({})\n", what, fitted ? "fitted" : "held out",
                        median_percent(small), small.size(), median_percent(large), large.size());
  }
  return text;
}

std::string as_comments(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace stepcast::app
