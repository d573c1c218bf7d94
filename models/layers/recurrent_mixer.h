#pragma once

#include <cstdint>

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// What a layer of state-space or of linear attention does around its scan: a first multiply makes all that the scan
/// needs, a short convolution along the sequence mixes some of its columns, and behind the scan come a norm, the gate
/// and the multiply back. Tensor ranks share the heads. Context ranks, which each have a part of every sequence
/// outside, each have some of the heads over all of the sequence in between (Megatron-Core's MambaContextParallel,
/// megatron/core/ssm/mamba_context_parallel.py).

/// Columns on one tensor rank.
struct MixerColumns {
  std::int64_t in = 0;         ///< that the first multiply makes
  std::int64_t shared = 0;     ///< of those, what several heads share
  std::int64_t convolved = 0;  ///< of `in`, what the convolution goes over
  std::int64_t inner = 0;      ///< that the scan makes
};

/// A layer's first half from its norm to its short convolution over `taps` tokens, which has biases or not.
void enter_mixer(Writer& writer, const MixerColumns& columns, std::int64_t shared_heads, std::int64_t taps, bool bias);
/// From what the scan has made to the residual. `scale`: parameters of the norm.
void leave_mixer(Writer& writer, const MixerColumns& columns, double scale);

/// Groups of heads that a rank has something of, where its heads are some of a tensor rank's `groups`.
std::int64_t own_groups(const StackSizes& sizes, std::int64_t groups);

}  // namespace stepcast::schedules
