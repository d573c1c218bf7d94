#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::measure {

/// What NCCL is told to use; it reads this when a communicator is made, so each setting has a process of its own.
struct NcclSetting {
  std::string algorithm = "auto", protocol = "auto";  ///< as collectives.csv writes them
  bool operator==(const NcclSetting&) const = default;
};

/// Values for the environment: NCCL_ALGO ("Ring", "NVLSTree" ...; "" for auto) and NCCL_PROTO.
std::string nccl_algo(const NcclSetting& setting);
std::string nccl_proto(const NcclSetting& setting);

/// NCCL's own choice first, then the grid: rings and trees in LL, LL128 and Simple, and what works inside switches
/// (NVLS, NVLSTree on several nodes) in Simple. `nvls`: the GPUs reduce in NVSwitch (compute capability 9.0 and up).
std::vector<NcclSetting> nccl_settings(bool nvls, int nodes, bool quick);

/// A group of GPUs by their places in the node, ascending.
using GpuGroup = std::vector<int>;

/// One collective on some GPUs of every node; all sizes of it are measured together.
struct CollectiveCase {
  std::string collective;   ///< as collectives.csv writes it
  GpuGroup gpus;            ///< of each node
  std::string redop = "-";  ///< sum, or "-" where nothing is reduced
  bool in_place = false;
};

/// The groups to measure of a node's GPUs, all of them first: the first 2, 3 ... (on several nodes 1 as well), and what
/// spans the node's halves: a GPU of each, two of each, every second one, and the second half by itself. `numa`: of
/// each GPU its NUMA node, which says which half; where all are the same or unknown (-1), the first half of the GPUs is
/// one. `quick`: all of them alone.
std::vector<GpuGroup> gpu_groups(const std::vector<int>& numa, int nodes, bool quick);

/// The collectives that `setting` can run (NCCL has trees for all-reduce alone) on each group, of each node the same.
std::vector<CollectiveCase> collective_plan(const NcclSetting& setting, const std::vector<GpuGroup>& groups);

/// "0 1 4", as collectives.csv writes a group.
std::string listed(const GpuGroup& group);
/// Names the group in a file's name: "-gpus-0-4"; "" for the first ones of a node.
std::string group_suffix(const GpuGroup& group);

/// Bus bandwidth over algorithm bandwidth as nccl-tests defines it (doc/PERFORMANCE.md): 2 (n-1)/n for all-reduce,
/// (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for the rest.
double bus_factor(const std::string& collective, int ranks);

/// Elements of one rank's send and receive buffer for `bytes` as nccl-tests counts them: of the whole result for
/// all-gather, of the whole input for reduce-scatter, of one rank's buffer for the others; down to a multiple of the
/// ranks where it is divided. 0: `bytes` is too small for this many ranks.
struct Counts {
  std::int64_t send = 0, receive = 0, bytes = 0;  ///< bytes: what is then measured
};
Counts counts_of(const std::string& collective, std::int64_t bytes, std::int64_t element, int ranks);

}  // namespace stepcast::measure
