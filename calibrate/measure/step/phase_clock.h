#pragma once

#include <vector>

#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/host/step_case.h"

namespace stepcast::measure {

/// Splits what a stream does in a step into phases, by an event at each end of each.
class PhaseClock {
 public:
  void begin(cudaStream_t stream) {
    phases_.clear();
    record(stream);
  }
  /// What was put on the stream since the last mark was of this phase.
  void mark(double StepPhases::*phase, cudaStream_t stream) {
    phases_.push_back(phase);
    record(stream);
  }
  /// Of the last step. Requires that the stream is done.
  StepPhases phases() const {
    StepPhases sum;
    for (std::size_t i = 0; i < phases_.size(); ++i) sum.*phases_[i] += events_[i + 1].since(events_[i]);
    return sum;
  }

 private:
  void record(cudaStream_t stream) {
    if (events_.size() <= phases_.size()) events_.emplace_back();
    events_[phases_.size()].record(stream);
  }
  std::vector<double StepPhases::*> phases_;
  std::vector<CudaEvent> events_;
};

}  // namespace stepcast::measure
