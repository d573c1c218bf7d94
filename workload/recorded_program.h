#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/executor.h"
#include "topology/slow_node.h"
#include "workload/communication.h"
#include "workload/machine.h"
#include "workload/program.h"

namespace stepcast::workload {

/// How long a step takes, as a timeline tells it.
struct StepMeasure {
  /// All that runs is so many steps, in the mean of which it is counted.
  std::uint32_t steps = 1;
  /// Instead, of a step among others: from when `before` has ended (nothing: the begin) to when `last` has.
  struct Lap {
    std::optional<sim::TaskId> before{};
    sim::TaskId last{};
  };
  std::vector<Lap> laps{};  ///< the longest of them counts
  /// Instead, of workers that do not wait for each other, by worker and step: what ends it (workload/steady_windows.h).
  std::vector<std::vector<std::vector<sim::TaskId>>> updates{};
};

/// A program with all else that says how long it takes, so that it can be written down and run elsewhere.
struct RecordedProgram {
  Program program;
  std::vector<Communication> communications;  ///< as the program numbers them
  /// How they are timed: as Flows::Conditions says.
  bool unfolded = false, late = false;
  bool transfers = false;                         ///< each is lowered to its transfers (workload/transfers.h)
  std::optional<topology::SlowNode> slow_node{};  ///< of the machine that it ran on
  StepMeasure measure{};
  std::vector<std::string> names{};  ///< of tasks, by TaskId: for readers; empty or missing: none
};

/// When its tasks run on the machine.
sim::Timeline run(const RecordedProgram& recording, const Machine& machine);

/// As the recording measures it. Requires a timeline of its program.
Time step_time(const StepMeasure& measure, const sim::Timeline& timeline);

}  // namespace stepcast::workload
