#include "topology/link_types.h"

#include <string>

#include "sim/input_error.h"

namespace stepcast::topology {

void check(const NodeSpec& node, const LinkType& type) {
  const std::string link = "link '" + type.name + "'";
  if (!(type.bandwidth.value > 0)) throw InputError(node.name, link + ": bandwidth must be more than 0");
  if (!(type.efficiency > 0 && type.efficiency <= 1)) {
    throw InputError(node.name, link + ": efficiency must be more than 0 and at most 1");
  }
  if (type.latency < Time{}) throw InputError(node.name, link + ": latency must be 0 or more");
  if (!(type.nccl.share > 0 && type.nccl.share <= 1)) {
    throw InputError(node.name, link + ": nccl.share must be more than 0 and at most 1");
  }
  if (!(type.nccl.ll_share > 0 && type.nccl.ll_share <= 1)) {
    throw InputError(node.name, link + ": nccl.ll_share must be more than 0 and at most 1");
  }
}

const LinkType& need(const NodeSpec& node, std::string_view field, const std::optional<LinkType>& type) {
  if (!type) {
    throw InputError(node.name,
                     "builder '" + node.builder + "' needs '" + std::string(field) + "', a file of configs/links/");
  }
  check(node, *type);
  return *type;
}

}  // namespace stepcast::topology
