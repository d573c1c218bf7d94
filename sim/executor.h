#pragma once

#include <functional>
#include <stdexcept>
#include <vector>

#include "sim/task_graph.h"

namespace stepcast::sim {

/// What happened when. Indexed by task and by resource.
struct Timeline {
  std::vector<Time> start, finish;
  std::vector<double> carried;  ///< units (bytes) that came over each resource
  Time end{};                   ///< when the last task finished
};

/// The tasks wait for each other in a circle: `cycle` lists one such circle, each task after the next one.
struct CyclicTasks : std::runtime_error {
  explicit CyclicTasks(std::vector<TaskId> circle);
  std::vector<TaskId> cycle;
};

/// Is told now and then how many tasks have ended.
using Watch = std::function<void(std::size_t ended)>;

/// Runs the graph from time 0: a task starts when all it comes after has finished.
/// Deterministic: the same graph gives the same timeline to the picosecond.
/// Time O((tasks + dependencies) + re-solved flows); memory linear in the graph. Throws CyclicTasks.
Timeline run(const TaskGraph& graph, const Watch& watch = {});

}  // namespace stepcast::sim
