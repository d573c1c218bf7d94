#include "models/layers/early_stop.h"

#include <algorithm>
#include <iterator>

#include "models/layers/stack_sizes.h"

namespace stepcast::schedules {

std::size_t end_of_repetition(const Scenario& s, const Kernels& forward) {
  const bool output_is_read = has_dropout(s) || s.model.variations.post_norms;
  if (!s.software.recompute_stops_early || output_is_read) return forward.size();
  const auto last = std::find_if(forward.rbegin(), forward.rend(),
                                 [](const Kernel& kernel) { return std::holds_alternative<Gemm>(kernel); });
  if (last == forward.rend()) return forward.size();
  return static_cast<std::size_t>(std::prev(last.base()) - forward.begin());
}

}  // namespace stepcast::schedules
