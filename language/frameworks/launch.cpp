#include "language/frameworks/launch.h"

namespace stepcast::language {

std::string torchrun(const Launch& launch, std::string_view program) {
  std::string line =
      "torchrun --nnodes " + std::to_string(launch.nodes) + " --nproc-per-node " + std::to_string(launch.gpus_per_node);
  if (launch.nodes > 1) line += " --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port 29500";
  return line.append(" ").append(program);
}

void read_launched_gpus(Words& words) {
  if (words.contains("cluster.gpus") || words.contains("cluster.nodes")) return;
  for (const char* size : {"@nodes", "@gpus_per_node"})
    if (text_of(words, size).find_first_not_of("0123456789") != std::string::npos)
      refuse(words, size, "a number, or --set cluster.gpus=N");
  if (!words.contains("@gpus_per_node")) {
    if (words.contains("@nodes")) say(words, "cluster.nodes", text_of(words, "@nodes"), "@nodes");
    return;
  }
  if (!words.contains("@nodes")) say(words, "@nodes", "1", "@gpus_per_node");
  say(words, "cluster.gpus", std::to_string(product({whole_of(words, "@nodes"), whole_of(words, "@gpus_per_node")})),
      "@nodes");
}

}  // namespace stepcast::language
