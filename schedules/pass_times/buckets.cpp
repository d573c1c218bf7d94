#include "schedules/pass_times/buckets.h"

namespace stepcast::schedules {

std::vector<std::size_t> bucket_ends(std::span<const Piece> pieces, double full) {
  double left = 0, open = 0;
  for (const Piece& piece : pieces) left += piece.trained;
  std::vector<std::size_t> ends;
  for (std::size_t back = 0; back < pieces.size() && left > 0; ++back) {
    const double made = pieces[pieces.size() - 1 - back].trained;
    open += made;
    left -= made;
    if (left > 0 && open < full) continue;
    ends.push_back(back);
    open = 0;
  }
  return ends;
}

}  // namespace stepcast::schedules
