#include "models/layers/collective_copies.h"

#include <algorithm>

#include "models/layers/as_double.h"
#include "models/layers/frozen.h"

namespace stepcast::schedules {
namespace {

/// Whether the stack's own collectives sum gradients each step: servers and local rounds have buffers of their own.
bool has_data_ranks(const Scenario& s) {
  return weight_copies(s.parallelism) > 1 && s.data_parallel.mode == DataParallelMode::all_reduce &&
         s.data_parallel.local_steps == 1;
}

double gathered_bytes(const Scenario& s) {
  if (!s.software.copies_gathered || s.data_parallel.zero < 3) return 0;
  return 2 * d(s.training.eight_bit_parameters ? 1 : element_bytes(s.training.precision));
}

double summed_bytes(const Scenario& s) {
  const int zero = s.data_parallel.zero;
  const double summed = d(element_bytes(gradient_precision(s)));
  if (zero == 0) return s.software.gradient_as_bucket_view ? 0 : 4 * summed;  // there and back
  if (zero >= 2 && s.software.block_gradients) return d(element_bytes(s.training.precision)) + summed;
  return s.software.bucket_copies > 0 ? 2 * summed : 0;
}

}  // namespace

CollectiveCopies copies_of_passes(const Scenario& s) {
  if (!has_data_ranks(s)) return {};
  return {.gathered = gathered_bytes(s), .summed = sums_each_micro_batch(s) ? summed_bytes(s) : 0};
}

double gradients_copied_once(const Scenario& s) {
  return has_data_ranks(s) && !sums_each_micro_batch(s) ? summed_bytes(s) : 0;
}

void add_collective_copies(Blocks& blocks, const Scenario& s) {
  const CollectiveCopies copies = copies_of_passes(s);
  if (copies.gathered == 0 && copies.summed == 0) return;
  const std::uint32_t tied = blocks.order[tied_place(blocks)];
  for (std::uint32_t kind = 0; kind < blocks.kinds.size(); ++kind) {
    Block& block = blocks.kinds[kind];
    const bool shares_embedding = kind == tied && s.parallelism.pipeline == 1;
    const double tied_here = shares_embedding ? blocks.tied : 0;
    const double parameters = block.parameters - tied_here;
    const double stored = stored_parameters(s.training, block) - tied_here;
    const double summed = std::max(parameters - block.frozen_parameters, 0.0);
    const auto copy = [&](double bytes, bool backward, bool of_weights = false) {
      return Elementwise{OperatorKind::collective_copy, bytes, 1, of_weights, backward};
    };
    if (parameters == 0) continue;
    if (copies.gathered > 0) {
      block.forward.insert(block.forward.begin(), copy(stored * copies.gathered, false));
      block.backward.insert(block.backward.begin(), copy(stored * copies.gathered, true));
      if (s.software.gather_for_recompute && !block.recompute.empty())
        block.recompute.push_back(copy(stored * copies.gathered, true));
    }
    if (copies.summed > 0 && summed > 0) block.backward.push_back(copy(summed * copies.summed, true, true));
  }
}

}  // namespace stepcast::schedules
