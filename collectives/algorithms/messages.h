#pragma once

#include <cstdint>
#include <vector>

#include "collectives/request.h"

namespace stepcast::collectives {

/// What rank s sends rank d in all_to_all, even or uneven (all-to-all-v).
class Messages {
 public:
  /// Requires pair_elements to be empty, or of ranks * ranks sizes with no row above `elements`.
  explicit Messages(const Request& request)
      : ranks_(request.ranks), elements_(request.elements), pairs_(request.pair_elements), begin_(pairs_.size()) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      begin_[i] = i % ranks_ == 0 ? static_cast<std::int64_t>(i / ranks_) * elements_ : begin_[i - 1] + pairs_[i - 1];
    }
  }

  Range of(std::uint32_t source, std::uint32_t destination) const {
    if (pairs_.empty()) return part({source * elements_, elements_}, ranks_, destination);
    const std::size_t at = std::size_t{source} * ranks_ + destination;
    return {begin_[at], pairs_[at]};
  }

 private:
  std::uint32_t ranks_;
  std::int64_t elements_;
  std::vector<std::int64_t> pairs_, begin_;
};

}  // namespace stepcast::collectives
