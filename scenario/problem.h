#pragma once

#include <string>

namespace stepcast::schedules {

/// What is wrong with a scenario whose keys are each right: the key to blame, what was found, what is allowed.
struct Problem {
  std::string key;   ///< "parallelism.tensor"
  std::string text;  ///< "tensor 3 x pipeline 1 x data 1 is 3 GPUs, the cluster has 8: ..."
};

}  // namespace stepcast::schedules
