#include "workload/machines.h"

#include <algorithm>

namespace stepcast::workload {
namespace {

constexpr std::size_t kMostKept = 16;

/// About what a machine takes in memory.
std::size_t bytes_of(const Machine& machine) {
  constexpr std::size_t kBytesALink = 64;
  return machine.timer().remembered_bytes() + kBytesALink * machine.cluster().links();
}

}  // namespace

std::shared_ptr<const Machine> Machines::of(const MachineSpec& spec) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(kept_, spec, &Kept::spec);
  if (known == kept_.end()) {
    kept_.push_front({spec, std::make_shared<const Machine>(spec)});
  } else {
    kept_.splice(kept_.begin(), kept_, known);
    if (known->machine->timer().remembered_bytes() > most_bytes_)
      known->machine = std::make_shared<const Machine>(spec);
  }
  drop_oldest();
  return kept_.front().machine;
}

void Machines::drop_oldest() {
  std::size_t count = 0, bytes = 0;
  const auto too_many = std::ranges::find_if(kept_, [&](const Kept& kept) {
    bytes += bytes_of(*kept.machine);
    return ++count > kMostKept || (count > 1 && bytes > most_bytes_);
  });
  kept_.erase(too_many, kept_.end());
}

}  // namespace stepcast::workload
