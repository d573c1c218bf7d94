#include "language/configs/usual_stack.h"

#include <algorithm>

namespace stepcast::language {
namespace {

/// Generations with a stack of their own, oldest first.
struct Generation {
  std::uint32_t first;  ///< compute capability, times ten
  const char* stack;
};
constexpr Generation kGenerations[] = {
    {0, "nccl-p100"}, {70, "nccl-v100"}, {80, "nccl-a100"}, {90, "nccl-h100"}, {100, "nccl-b200"}};

bool joins_by_nvlink(const topology::NodeSpec& node) {
  const auto is_nvlink = [](const topology::GraphLink& link) { return link.type.kind == topology::LinkKind::nvlink; };
  return node.builder != "pcie" && (node.nvlink || std::ranges::any_of(node.links, is_nvlink));
}

}  // namespace

UsualStack usual_stack(const topology::NodeSpec& node, std::uint32_t compute_capability) {
  if (node.gpus > 1 && !joins_by_nvlink(node))
    return {"nccl-pcie", "as the node names none and no NVLink joins its GPUs"};
  if (node.builder == "torus")
    return {"nccl-a100",
            "a stand-in: fitted to NCCL on DGX A100, while the chips of a torus (TPU) have no NCCL and nobody has "
            "fitted theirs"};
  if (compute_capability == 0)
    return {"nccl-a100", "fitted on DGX A100, as neither the node nor its GPU's compute_capability says another"};
  const std::string why = "as the node names none and its GPUs are of compute capability " +
                          std::to_string(compute_capability / 10) + '.' + std::to_string(compute_capability % 10);
  // A rack of trays that NVLink joins, as of GB200.
  if (compute_capability >= 100 && node.trays > 1) return {"nccl-gb200", why + " in trays that NVLink joins"};
  const auto after = std::ranges::upper_bound(kGenerations, compute_capability, {}, &Generation::first);
  return {std::prev(after)->stack, why};
}

std::string fitted_on(const std::string& gpu, std::uint32_t compute_capability, bool recorded_network) {
  if (compute_capability == 0)
    return "which the node names: fitted on NVIDIA's GPUs, so no recording of a " + gpu + " stands behind it";
  return recorded_network ? "fitted on such nodes" : "fitted on such GPUs over other networks";
}

}  // namespace stepcast::language
