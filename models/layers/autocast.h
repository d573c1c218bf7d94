#pragma once

#include <cstdint>

#include "scenario/scenario.h"

namespace stepcast::schedules {

// Training in 16 bits as torch.autocast does it (pytorch.org, "CUDA Ops that can autocast to float32"; "Ops that
// promote to the widest input type"): parameters stay in fp32, and each multiply's are cast once a forward pass.
// Multiplies read and write 16 bits. Embedding, norms and softmax are in fp32, and so is what goes past attention and
// feed-forward, since a sum takes the wider of its two types.

/// Whether the scenario trains so. Adapters are beside a frozen model in 16 bits, whose sums are in these.
bool autocasts(const Scenario& scenario);
/// Whether casts are kernels of their own: what fuses elementwise kernels has them in those before or behind.
bool casts_apart(const Scenario& scenario);

/// Bytes of an element of the residual stream.
std::int64_t residual_element(const Scenario& scenario);
/// And of what a norm before a multiply or a softmax writes.
std::int64_t normed_element(const Scenario& scenario);

}  // namespace stepcast::schedules
