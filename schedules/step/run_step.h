#pragma once

#include <memory>
#include <vector>

#include "schedules/step/step.h"
#include "sim/executor.h"
#include "workload/flows.h"

namespace stepcast::schedules {

/// A step that was run.
struct StepRun {
  std::shared_ptr<const workload::Flows> flows;  ///< of its communications; none where all traffic was lowered
  std::vector<double> busy;                      ///< by link, where all traffic was lowered: workload::RunOfTransfers
  std::vector<workload::Communication> communications;  ///< of a traced or recorded step, by CommunicationId
  Step step;
  sim::Timeline timeline;        ///< of what was simulated
  Shape shape;                   ///< likewise: it may have fewer micro-batches than the step
  Time time{};                   ///< of the whole step
  std::vector<TimeSplit> split;  ///< likewise, by stage
};

/// Runs one training step. A pipeline's middle repeats itself, so of many micro-batches only the first are simulated,
/// until all streams are where they were one period of the schedule before: same tasks under way, each begun as long
/// ago and ending as long from now. From there on everything happens again, one period later, until the last
/// micro-batches come in; so the step takes what it takes with fewer micro-batches and one period's time for each that
/// was left out, to the picosecond. A step that is traced or recorded, with jitter, one of whose replicas has a slow
/// GPU, or all of whose transfers are simulated, is simulated whole.
StepRun run_step(const StepInput& input);

/// The same, of all micro-batches that `input`'s pipeline has.
StepRun run_whole_step(const StepInput& input);

}  // namespace stepcast::schedules
