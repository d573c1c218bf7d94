#pragma once

#include <string>
#include <vector>

namespace stepcast::schedules {

/// What is wrong with a scenario whose keys are each right: the key to blame, what was found, what is allowed.
struct Problem {
  std::string key;                    ///< "parallelism.tensor"
  std::string text;                   ///< "tensor 3 x pipeline 1 x data 1 is 3 GPUs, the cluster has 8: ..."
  std::vector<std::string> others{};  ///< keys it lies as much at: one that was laid over a file is to blame
};

}  // namespace stepcast::schedules
