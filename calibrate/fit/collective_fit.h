#pragma once

#include <functional>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/curve.h"
#include "calibrate/fit/fitted_model.h"
#include "collectives/transport.h"

namespace stepcast::calibrate {

/// The measured machine, that many nodes of it.
using ClusterOf = std::function<topology::Cluster(std::uint32_t nodes)>;

/// The collectives of a bundle: a curve for each operation, algorithm, protocol, and set of GPUs; in and out of place
/// count as their mean, as nccl-tests' columns do. Throws InputError with the row's place where the machine has fewer
/// GPUs.
std::vector<Curve> bundle_curves(const Bundle& bundle, const ClusterOf& cluster);

/// Fits a stack's transport to them, from `start`: the constants software.transport.*, all of which a profile replaces
/// together. Nothing is held out. Takes as long as fit_transport.
FittedModel fit_collectives(const Bundle& bundle, const ClusterOf& cluster, const collectives::Transport& start);

}  // namespace stepcast::calibrate
