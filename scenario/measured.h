#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/units.h"

namespace stepcast::schedules {

/// What a real run showed.
struct Measured {
  std::optional<Time> step_time;
  std::optional<Bytes> peak_memory;
  std::map<std::string, Time> phases;  ///< layer_forward, layer_backward, exposed_data_communication, bubble
};

}  // namespace stepcast::schedules
