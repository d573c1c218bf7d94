#include "schedules/results/reported_memory.h"

#include <algorithm>

namespace stepcast::schedules {

Bytes reported_memory(const Scenario& s, std::span<const MemoryUse> stages) {
  Bytes most{};
  for (const MemoryUse& stage : stages) {
    most = std::max(most, stage.counted(s.measured.memory_is));
    if (s.software.reported_memory == ReportedMemory::first_stage) break;
  }
  return most;
}

}  // namespace stepcast::schedules
