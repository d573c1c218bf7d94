#include "calibrate/confidence/band.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace stepcast::calibrate {
namespace {

constexpr double kTail = (1 - kCoverage) / 2;
constexpr std::size_t kFewest = 9;  // 1 / kTail - 1: one row in each tail

/// About what a Time holds: a band ends there.
constexpr double kLongestSeconds = 9.19e6;

/// Of measured / predicted.
struct RatioInterval {
  double low = 1, high = 1;
};

double ratio(const Residual& row) { return 1 / (1 + row.error); }

/// Requires kFewest rows.
RatioInterval of_one_kind(Rows rows) {
  std::vector<double> ratios;
  for (const Residual* row : rows) ratios.push_back(ratio(*row));
  std::ranges::sort(ratios);
  // (n + 1) / 10 in exact arithmetic is never a hair below a whole number.
  const auto tail = static_cast<std::size_t>(std::floor(static_cast<double>(rows.size() + 1) * kTail + 1e-9));
  return {ratios[tail - 1], ratios[ratios.size() - tail]};
}

/// Quantiles of the mean of the tables' distributions.
RatioInterval of_tables(Rows rows) {
  std::map<std::string_view, double> in_table;
  for (const Residual* row : rows) ++in_table[row->table];
  std::vector<std::pair<double, double>> weighted;  // ratio, weight
  for (const Residual* row : rows)
    weighted.emplace_back(ratio(*row), 1 / (in_table[row->table] * static_cast<double>(in_table.size())));
  std::ranges::sort(weighted);
  const auto quantile = [](const auto& first, const auto& last) {
    double below = 0;
    auto at = first;
    for (; std::next(at) != last; ++at)
      if ((below += at->second) >= kTail) break;
    return at->first;
  };
  return {quantile(weighted.begin(), weighted.end()), quantile(weighted.rbegin(), weighted.rend())};
}

template <class Keep>
std::vector<const Residual*> chosen(Rows rows, const Keep& keep) {
  std::vector<const Residual*> out;
  std::ranges::copy_if(rows, std::back_inserter(out), [&](const Residual* row) { return keep(row->traits); });
  return out;
}

/// "hidden size 512: measured rows have 1536 to 25600"
std::optional<std::string> beyond(const std::string& name, double size, Rows rows) {
  double least = INFINITY, most = -INFINITY;
  for (const Residual* row : rows)
    if (const auto at = row->traits.sizes.find(name); at != row->traits.sizes.end()) {
      least = std::min(least, at->second);
      most = std::max(most, at->second);
    }
  if (least > most || (least <= size && size <= most)) return std::nullopt;  // a size no row has is a kind no row has
  const auto number = [](double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  return name + " " + number(size) + ": measured rows have " +
         (least == most ? number(least) : number(least) + " to " + number(most));
}

}  // namespace

std::vector<std::string> out_of_range(Rows rows, const Traits& plan) {
  std::vector<std::string> reasons;
  const auto of_gpu = chosen(rows, [&](const Traits& t) { return t.gpu == plan.gpu; });
  const auto of_software = chosen(rows, [&](const Traits& t) { return t.software == plan.software; });
  const auto of_both = chosen(rows, [&](const Traits& t) { return t.gpu == plan.gpu && t.software == plan.software; });
  if (of_gpu.empty()) reasons.push_back("no measured row with GPU " + plan.gpu);
  if (of_software.empty()) reasons.push_back("no measured row with software " + plan.software);
  if (reasons.empty() && of_both.empty())
    reasons.push_back("no measured row with software " + plan.software + " on GPU " + plan.gpu);
  const Rows like = !of_both.empty()       ? Rows(of_both)
                    : !of_software.empty() ? Rows(of_software)
                    : !of_gpu.empty()      ? Rows(of_gpu)
                                           : rows;
  const auto none = [&](const auto& has) { return std::ranges::none_of(like, has); };

  if (none([&](const Residual* row) { return row->traits.family == plan.family; }))
    reasons.push_back("no such row with model family " + plan.family);
  for (const std::string& kind : plan.kinds)
    if (none(
            [&](const Residual* row) { return std::ranges::find(row->traits.kinds, kind) != row->traits.kinds.end(); }))
      reasons.push_back("no such row with " + kind);
  for (const auto& [name, size] : plan.sizes)
    if (auto reason = beyond(name, size, like)) reasons.push_back(std::move(*reason));
  return reasons;
}

std::optional<Band> band(Rows rows, const Traits& plan, Time predicted) {
  if (rows.empty()) return std::nullopt;
  const auto of_gpu = chosen(rows, [&](const Traits& t) { return t.gpu == plan.gpu; });
  const auto of_stack = chosen(rows, [&](const Traits& t) { return t.gpu == plan.gpu && t.software == plan.software; });
  const auto of_family = chosen(rows, [&](const Traits& t) {
    return t.gpu == plan.gpu && t.software == plan.software && t.family == plan.family;
  });

  Band out;
  RatioInterval interval;
  const auto take = [&](const RatioInterval& found, std::size_t count, std::string like) {
    interval = found;
    out.rows = count;
    out.like = std::move(like);
  };
  if (of_family.size() >= kFewest)
    take(of_one_kind(of_family), of_family.size(), "of " + plan.family + " with " + plan.software + " on " + plan.gpu);
  else if (of_stack.size() >= kFewest)
    take(of_one_kind(of_stack), of_stack.size(), "with " + plan.software + " on " + plan.gpu);
  else if (of_gpu.size() >= kFewest)
    take(of_tables(of_gpu), of_gpu.size(), "on " + plan.gpu);
  else
    take(of_tables(rows), rows.size(), "of all tables");

  out.out_of_range = out_of_range(rows, plan);
  out.in_range = out.out_of_range.empty();
  if (!out.in_range) {
    const RatioInterval wide = of_tables(rows);
    take({std::min(interval.low, wide.low), std::max(interval.high, wide.high)}, rows.size(), "of all tables");
  }
  out.low = from_seconds(to_seconds(predicted) * std::min(interval.low, 1.0));
  out.high = from_seconds(std::min(to_seconds(predicted) * std::max(interval.high, 1.0), kLongestSeconds));
  return out;
}

std::vector<const Residual*> without(std::span<const Residual> rows, const std::string& table,
                                     const std::string& name) {
  std::vector<const Residual*> out;
  for (const Residual& row : rows)
    if (row.table != table || (!name.empty() && row.name != name)) out.push_back(&row);
  return out;
}

}  // namespace stepcast::calibrate
