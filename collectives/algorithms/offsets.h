#pragma once

#include <cstdint>
#include <vector>

#include "collectives/request.h"

namespace stepcast::collectives {

/// Plans in which every rank does the same with the rank at every offset. Offset d from (node a, local l) is the rank
/// (a + d / gpus, l + d % gpus), both round: nearest nodes first. In a torus rows are what nodes are elsewhere. Knows
/// which sources a folded plan keeps.
class Offsets {
 public:
  explicit Offsets(const Request& request) : Offsets(request, request.row != 0 ? request.row : request.gpus()) {}
  /// Of ranks in rows of `gpus`.
  Offsets(const Request& request, std::uint32_t gpus)
      : gpus_(gpus), nodes_(request.ranks / gpus), ranks_(request.ranks), fold_(request.fold) {}

  /// The sources that a folded plan keeps: source(0), source(1), ..., source(lanes() - 1).
  std::uint32_t lanes() const {
    const std::uint32_t kept = fold_.period != 0 ? fold_.period : ranks_;
    return fold_.rotate ? kept / gpus_ : kept;
  }
  std::uint32_t source(std::uint32_t lane) const { return fold_.rotate ? lane * gpus_ : lane; }
  /// The lane of the source that stands for a rank.
  std::uint32_t lane(std::uint32_t rank) const {
    if (fold_.period != 0) rank %= fold_.period;
    return fold_.rotate ? rank / gpus_ : rank;
  }

  std::uint32_t after(std::uint32_t rank, std::uint32_t offset) const {
    return (rank / gpus_ + offset / gpus_) % nodes_ * gpus_ + (rank % gpus_ + offset % gpus_) % gpus_;
  }
  std::uint32_t before(std::uint32_t rank, std::uint32_t offset) const {
    return (rank / gpus_ + nodes_ - offset / gpus_) % nodes_ * gpus_ + (rank % gpus_ + gpus_ - offset % gpus_) % gpus_;
  }

  /// The largest symmetry of such plans.
  static Symmetry symmetry(const Request& request) {
    if (request.row != 0) return {request.row, request.row > 1, request.row};
    return request.nodes == 1 ? Symmetry{1, false} : Symmetry{request.gpus(), request.gpus() > 1};
  }

 private:
  std::uint32_t gpus_, nodes_, ranks_;
  Symmetry fold_;
};

}  // namespace stepcast::collectives
