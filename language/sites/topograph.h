#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/sites/site.h"

namespace stepcast::language {

/// A site, and its nodes as far as the same file tells them.
struct SiteOfLabels {
  Site site;
  std::vector<SiteNode> nodes{};  ///< empty: the file says nothing of GPUs
};

/// Reads what NVIDIA topograph made: the labels of Kubernetes nodes, as `kubectl get nodes -o json` prints them, or the
/// JSON of its engine `graph`. A node's labels name the switches above it: fabric.topograph.run/tier-0, tier-1 and so
/// on, or network.topology.nvidia.com/leaf, spine and core of earlier releases; `labels` names others instead, the
/// nearest first. Where no node has any, its accelerator domains (accelerator.topograph.run/domain,
/// network.topology.nvidia.com/accelerator) are taken for leaf switches below one that joins them. Of Kubernetes also
/// status.capacity (GPUs), the condition Ready and spec.unschedulable are read. Throws InputError for anything else.
/// Source: github.com/NVIDIA/topograph, docs/engines/k8s.md, docs/reference/node-labels.md, docs/engines/graph.md. What
/// its engines slurm and slinky write is topology.conf or topology.yaml.
SiteOfLabels read_topograph(std::string_view text, const std::string& file, std::span<const std::string> labels);

}  // namespace stepcast::language
