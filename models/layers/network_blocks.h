#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// The model's network, a block an entry. Convolutions are multiplied implicitly (Chetlur et al. 2014, arXiv
/// 1410.0759): rows are the output's pixels of all samples, columns the output channels, and the sum runs over the
/// kernel's pixels of the input channels of one group. Tensor ranks share the samples of everything up to the first
/// `linear` and the features from there on (Krizhevsky 2014, arXiv 1404.5997, sec. 4): gradients of the former are
/// summed over them, activations of the latter gathered. Requires check(model.network) to find nothing.
Blocks network_blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
