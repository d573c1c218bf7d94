#pragma once

#include <span>

#include "collectives/nccl/tuner.h"
#include "collectives/search/chain_searches.h"
#include "topology/cluster.h"

namespace stepcast::collectives::nccl {

/// The communicator as NCCL's tuner sees it, with the graphs that its search would find: rings at the rates of its
/// list, from the fastest on, most channels times rate first (chain_search.h does the search); then as many channels of
/// half the rate where NCCL doubles them. Links at NCCL's own rates. `group`: GPUs in order of their ids; where its
/// nodes differ, its first two stand for all. No graphs for CollNet (a plugin) and PAT (no plan of ours does it). Of
/// trees, only that they follow the rings. Source: NCCL 2.30.7 src/graph/search.cc and topo.h, restated; releases
/// differ in their lists of rates, which are not gathered for older ones. `searches`: what was found before.
Job search(const topology::Cluster& cluster, std::span<const topology::GpuId> group, ChainSearches& searches);

}  // namespace stepcast::collectives::nccl
