#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/run_units.h"
#include "sim/units.h"

namespace stepcast::schedules {

enum class RunOutcome : std::uint8_t { ran, failed };

/// Which memory a figure counts: what the framework's allocator had handed out (torch.cuda.max_memory_allocated), what
/// it had taken from the device for that (max_memory_reserved), or all that was in use on the device (nvidia-smi).
enum class MemoryFigure : std::uint8_t { allocated, reserved, device };

/// What a real run showed.
struct Measured {
  RunOutcome outcome = RunOutcome::ran;              ///< failed: the plan was tried and did not run; no step time
  MemoryFigure memory_is = MemoryFigure::allocated;  ///< of peak_memory
  std::optional<Time> step_time;
  std::optional<Duration> run_time;  ///< of a whole run
  std::optional<Bytes> peak_memory;
  std::string trace;                   ///< the file of a profiler's trace of the run; empty: none
  std::uint32_t trace_steps = 1;       ///< that a trace without marks of steps holds
  std::map<std::string, Time> phases;  ///< layer_forward, layer_backward, exposed_data_communication, bubble
};

}  // namespace stepcast::schedules
