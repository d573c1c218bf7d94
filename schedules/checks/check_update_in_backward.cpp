#include "schedules/checks/check_update_in_backward.h"

#include <string>

namespace stepcast::schedules {

void check_update_in_backward(const Scenario& s, std::vector<Problem>& out) {
  if (!s.training.update_in_backward) return;
  const char* key = "training.update_in_backward";
  if (s.training.optimizer == Optimizer::none)
    out.push_back({key, "found true, but training.optimizer none updates nothing"});
  if (s.parallelism.pipeline > 1)
    out.push_back({key, "found true, but the micro-batches of parallelism.pipeline " +
                            std::to_string(s.parallelism.pipeline) +
                            " add up their gradients before the update; expected false"});
  else if (micro_batches(s) > 1)
    out.push_back({key, "found true, but " + std::to_string(micro_batches(s)) +
                            " micro-batches add up their gradients before the update; expected false, or a "
                            "training.micro_batch of all that a rank trains in a step"});
  if (weight_copies(s.parallelism) > 1 && s.data_parallel.zero < 3)
    out.push_back({key, "found true, but with data_parallel.zero " + std::to_string(s.data_parallel.zero) +
                            " gradients are summed in buckets before the update; expected zero 3, or false"});
  if (s.offload.optimizer != Tier::gpu)
    out.push_back({key, "found true, but offload.optimizer updates after backward; expected false"});
}

}  // namespace stepcast::schedules
