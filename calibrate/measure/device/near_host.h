#pragma once

#include <vector>

namespace stepcast::measure {

/// Of GPUs 0 .. gpus - 1 the NUMA node whose PCIe they are on, as Linux says; -1 where it does not.
std::vector<int> gpu_numa_nodes(int gpus);

/// Lets the calling thread run on the processors of the GPU's NUMA node alone, as far as the process may run there, so
/// that what it launches and the memory it allocates are near the GPU. Does nothing where Linux names no node.
void bind_near(int gpu);

}  // namespace stepcast::measure
