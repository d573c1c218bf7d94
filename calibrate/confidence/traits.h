#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::calibrate {

/// What makes one training run like another, as far as the error of a forecast may depend on it.
struct Traits {
  std::string gpu;                      ///< a file of configs/gpus/
  std::string software;                 ///< a file of configs/software/
  std::string family;                   ///< of the model
  std::vector<std::string> kinds;       ///< what the plan uses: "16-bit", "tensor parallel", "ZeRO 1", ... in one order
  std::map<std::string, double> sizes;  ///< "GPUs", "tokens a sample", ...; those that the plan has
};

/// Of a scenario without contradictions (check() is empty).
Traits traits(const schedules::Scenario& scenario);

}  // namespace stepcast::calibrate
