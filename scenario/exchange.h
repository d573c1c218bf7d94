#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepcast::schedules {

/// Who waits for whom where servers hold the parameters. Ho et al., "More Effective Distributed ML via a Stale
/// Synchronous Parallel Parameter Server", NeurIPS 2013; Dean et al., "Large Scale Distributed Deep Networks", NeurIPS
/// 2012.
enum class Consistency : std::uint8_t {
  bulk_synchronous,   ///< all for all, every step
  bounded_staleness,  ///< each for the slowest, once it is more than `staleness` steps ahead
  asynchronous,       ///< nobody
};

/// As scenarios write them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kConsistencyNames{"bulk_synchronous", "bounded_staleness",
                                                                   "asynchronous"};

/// What is left of gradients on the wire beside their precision. What a rank leaves out it keeps and adds to its next
/// gradients (error feedback): Seide et al., Interspeech 2014; Lin et al., "Deep Gradient Compression", ICLR 2018,
/// arXiv 1712.01887.
struct Compression {
  std::optional<double> ratio{};  ///< messages are so many times smaller and can still be summed on their way
  std::optional<double>
      top_k{};  ///< this share of the gradients, the largest, each with its index; gathered, not summed

  bool any() const { return ratio || top_k; }
};

}  // namespace stepcast::schedules
