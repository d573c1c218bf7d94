#pragma once

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {

/// Links and software that cost nothing, every kernel free but the layers' multiplies, no optimizer.
inline Scenario free_links(std::uint32_t stages, std::uint32_t micro_batches) {
  Scenario s = round_numbers(8 * stages);
  s.parallelism = {.tensor = 8, .pipeline = stages, .data = 1};
  s.training.global_batch = micro_batches;
  s.model.layers = 16 * stages;
  s.training.optimizer = Optimizer::none;
  topology::NodeSpec& n = s.cluster.node;
  for (auto* link : {&n.nvlink, &n.pcie, &n.socket_link, &n.nic}) {
    (*link)->bandwidth = {1e30};
    (*link)->latency = {};
  }
  s.software.transport = {};
  return s;
}

/// The last stage also runs the head: without it all stages have the same work.
inline Scenario equal_stages(const char* schedule, std::uint32_t stages, std::uint32_t micro_batches) {
  Scenario s = free_links(stages, micro_batches);
  s.pipeline.schedule = schedule;
  s.model.vocab = 64;  // of each of eight tensor ranks 8 rows, the fewest that are aligned
  return s;
}

}  // namespace stepcast::schedules
