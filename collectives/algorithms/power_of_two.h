#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "collectives/request.h"

namespace stepcast::collectives {

/// Lets an algorithm for powers of two run over any number of ranks: of the first 2 (P - 2^k) ranks the odd ones give
/// all they have to their even neighbour first, stand aside, and get the result last.
/// Source: Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, section 4.4 (non-power-of-two number of processes).
class PowerOfTwo {
 public:
  explicit PowerOfTwo(std::uint32_t ranks) : size_(std::bit_floor(ranks)), aside_(ranks - size_) {}

  std::uint32_t size() const { return size_; }  ///< members
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::countr_zero(size_)); }
  std::uint32_t rank(std::uint32_t member) const { return member < aside_ ? 2 * member : member + aside_; }

  /// The transfers into members: what they must wait for, by member.
  std::vector<std::vector<TransferId>> fold(CollectivePlan& plan, ChunkId all) const {
    std::vector<std::vector<TransferId>> arrived(size_);
    for (std::uint32_t i = 0; i < aside_; ++i) {
      arrived[i].push_back(plan.add({plan.connect(2 * i + 1, 2 * i, 0), all, Effect::reduce}));
    }
    return arrived;
  }
  void unfold(CollectivePlan& plan, ChunkId all, const std::vector<std::vector<TransferId>>& arrived) const {
    for (std::uint32_t i = 0; i < aside_; ++i) {
      plan.add({plan.connect(2 * i, 2 * i + 1, 0), all, Effect::copy}, arrived[i]);
    }
  }

 private:
  std::uint32_t size_, aside_;
};

}  // namespace stepcast::collectives
