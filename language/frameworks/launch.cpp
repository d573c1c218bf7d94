#include "language/frameworks/launch.h"

namespace stepcast::language {

std::string torchrun(const Launch& launch, std::string_view program) {
  std::string line =
      "torchrun --nnodes " + std::to_string(launch.nodes) + " --nproc-per-node " + std::to_string(launch.gpus_per_node);
  if (launch.nodes > 1) line += " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port 29500";
  return line.append(" ").append(program);
}

void read_launched_gpus(Words& words) {
  const std::string nodes = text_of(words, "@nodes"), each = text_of(words, "@gpus_per_node");
  if (nodes.empty() || each.empty() || (nodes + each).find('$') != std::string::npos) return;
  say(words, "cluster.gpus", std::to_string(product({whole_of(words, "@nodes"), whole_of(words, "@gpus_per_node")})),
      "@nodes");
}

}  // namespace stepcast::language
