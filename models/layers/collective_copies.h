#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Bytes that a GPU reads and writes for each parameter where a stack copies between the tensors that the model
/// computes with and the buffers of data-parallel collectives.
struct CollectiveCopies {
  /// Parameters behind an all_gather (Software::copies_gathered).
  double gathered = 0;
  /// Gradients before they are summed: of a block as it made them (Software::block_gradients), or into a bucket
  /// (Software::bucket_copies); into a bucket and back (Software::gradient_as_bucket_view).
  double summed = 0;
};

/// In each pass of a block: ZeRO 3 gathers parameters for every pass, and gradients may be summed after each.
CollectiveCopies copies_of_passes(const Scenario& scenario);

/// Likewise bytes for each gradient where all are summed once a step.
double gradients_copied_once(const Scenario& scenario);

/// Adds the kernels of copies_of_passes() to the passes of each block.
void add_collective_copies(Blocks& blocks, const Scenario& scenario);

}  // namespace stepcast::schedules
