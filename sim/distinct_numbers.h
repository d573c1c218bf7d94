#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "sim/distinct_lists.h"

namespace stepcast::sim {

/// Numbers of which many are equal, each once: whoever keeps many of them keeps the places of half their size.
class DistinctNumbers {
 public:
  /// Which of all() the value is. Requires that it is not NaN. O(1).
  std::uint32_t place_of(double value) {
    if (last_ < all_.size() && all_[last_] == value) return last_;
    if (2 * (all_.size() + 1) > table_.size()) grow();
    std::uint32_t& known = find(value);
    if (known == kNone) {
      if (all_.size() >= kNone) throw std::length_error("more than 2^32 numbers");
      known = static_cast<std::uint32_t>(all_.size());
      all_.push_back(value);
    }
    return last_ = known;
  }
  /// Valid until place_of() meets a new one.
  const double* all() const { return all_.data(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Where the value's place stands in the table, or would.
  std::uint32_t& find(double value) {
    std::size_t at = scramble(std::bit_cast<std::uint64_t>(value)) & (table_.size() - 1);
    while (table_[at] != kNone && all_[table_[at]] != value) at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    table_.assign(table_.empty() ? 16 : 2 * table_.size(), kNone);
    for (std::uint32_t place = 0; place < all_.size(); ++place) find(all_[place]) = place;
  }

  std::vector<double> all_;
  std::vector<std::uint32_t> table_;  // places by hash, open addressing; its size is a power of two
  std::uint32_t last_ = 0;            // the place asked for last
};

}  // namespace stepcast::sim
