#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "workload/machine.h"

namespace stepcast::workload {

/// Machines by their specification, each built when it is first asked for and kept for those who ask again. Safe to
/// share between threads.
class Machines {
 public:
  /// A table of plans for one cluster asks it for some thousand collectives, which take less.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  /// `most_bytes`: of memory, about, that all machines kept may take, but for the one asked for last.
  explicit Machines(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  /// The machine of this specification. It stays as long as somebody holds it. Here it is dropped when too many or too
  /// large ones were asked for since, or when it has come to remember too much. Throws InputError where the cluster
  /// cannot be built.
  std::shared_ptr<const Machine> of(const MachineSpec& spec);

 private:
  struct Kept {
    MachineSpec spec;
    std::shared_ptr<const Machine> machine;
  };
  void drop_oldest();

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::list<Kept> kept_;  ///< the one asked for last comes first
};

}  // namespace stepcast::workload
