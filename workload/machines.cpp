#include "workload/machines.h"

#include <algorithm>

namespace stepcast::workload {
namespace {

constexpr std::size_t kMostKept = 16;

}  // namespace

std::shared_ptr<const Machine> Machines::of(const MachineSpec& spec) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(kept_, spec, &Kept::spec);
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    if (known->machine->timer().remembered_bytes() > most_remembered_bytes_)
      known->machine = std::make_shared<const Machine>(spec);
    return known->machine;
  }
  kept_.push_front({spec, std::make_shared<const Machine>(spec)});
  if (kept_.size() > kMostKept) kept_.pop_back();
  return kept_.front().machine;
}

}  // namespace stepcast::workload
