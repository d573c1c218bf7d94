#pragma once

#include <cstddef>
#include <string>

namespace stepcast::measure {

/// The processes that measure together, one a node. Without MPI, or not started by mpirun or srun: this one alone.
/// Throws std::runtime_error where several are on one node, since each takes all of its GPUs.
class ProcessGroup {
 public:
  /// `alone`: this process, whoever started it.
  explicit ProcessGroup(bool alone);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int nodes() const { return nodes_; }
  int node() const { return node_; }

  /// Ends all processes, since they wait for this one. Returns where it is alone.
  void abandon(int status) const;

  /// Gives every process what process 0 holds.
  void broadcast(void* bytes, std::size_t count) const;
  void wait_for_all() const;
  /// The largest of all processes' values, in every process.
  double most(double value) const;
  /// What the first process that has something to say says, "" where none has: in every process. Cut at 500 bytes.
  std::string first_of(const std::string& text) const;
  /// The sum of all processes' values, in every process.
  double total(double value) const;

 private:
  int nodes_ = 1, node_ = 0;
  bool ours_ = false;
};

}  // namespace stepcast::measure
