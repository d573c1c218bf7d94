#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/device/nvml.h"

namespace stepcast::measure {

/// Puts one kernel (or a fixed handful) on a stream; the same work at each call. Must be legal under stream capture.
using Work = std::function<void(cudaStream_t)>;

struct KernelSamples {
  std::vector<double> samples;  ///< seconds of one call each
  GpuState state;               ///< while the last of them ran
};

/// Times work on the current GPU.
class KernelTimer {
 public:
  explicit KernelTimer(const Nvml& nvml);

  /// What it finds in the L2 cache is what the call before left there. A CUDA graph of many calls is replayed between
  /// two events; a sample is the time of a replay over its calls.
  KernelSamples warm(const Work& work);

  /// Before each call a buffer of twice the L2 cache is read; one call stands between two events. The events' own part
  /// is what launch/event_pair measures.
  KernelSamples cold(const Work& work);

  /// As warm(), without a graph: `calls` calls put on the stream one by one.
  KernelSamples stream(const Work& work, int calls);

  cudaStream_t on() const { return stream_; }

 private:
  double estimate(const Work& work);
  /// Samples of `work`, which takes about `seconds` and stands for `calls` calls; `before` each, outside its events.
  KernelSamples timed(double seconds, int calls, const Work& work, const Work& before);

  const Nvml& nvml_;
  int device_ = 0;
  Stream stream_;
  Buffer<float> flush_, never_{1};
};

}  // namespace stepcast::measure
