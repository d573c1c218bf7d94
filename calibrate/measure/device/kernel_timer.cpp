#include "calibrate/measure/device/kernel_timer.h"

#include <algorithm>
#include <cmath>

#include "calibrate/measure/kernels/stream.h"

namespace stepcast::measure {
namespace {

constexpr double kLongest = 0.25;  // seconds that the samples of one measurement should take together
constexpr double kReplay = 4e-4;   // seconds of a graph: what its launch takes is hidden under the one before

int samples_for(double seconds) { return std::clamp(static_cast<int>(kLongest / seconds), 7, 50); }

class CudaGraph {
 public:
  CudaGraph(cudaStream_t stream, const Work& work, int calls) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < calls; ++i) work(stream);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t code = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(code, "cudaGraphInstantiate");
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  void launch(cudaStream_t stream) const { check_cuda(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

KernelTimer::KernelTimer(const Nvml& nvml) : nvml_(nvml) {
  check_cuda(cudaGetDevice(&device_), "cudaGetDevice");
  int l2 = 0;
  check_cuda(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device_), "cudaDeviceGetAttribute");
  flush_ = Buffer<float>(std::max<std::int64_t>(2 * std::int64_t{l2}, std::int64_t{32} << 20) / 16 * 4);
  fill_value(flush_.data(), flush_.size(), 1.0f, stream_);
  stream_.wait();
}

double KernelTimer::estimate(const Work& work) {
  constexpr int kCalls = 3;
  const CudaEvent begin, end;
  for (int i = 0; i < 2; ++i) work(stream_);  // warm-up: modules load, libraries choose
  begin.record(stream_);
  for (int i = 0; i < kCalls; ++i) work(stream_);
  end.record(stream_);
  stream_.wait();
  return std::max(end.since(begin) / kCalls, 1e-6);
}

KernelSamples KernelTimer::timed(double seconds, int calls, const Work& work, const Work& before) {
  std::vector<CudaEvent> begin(static_cast<std::size_t>(samples_for(seconds))), end(begin.size());
  for (std::size_t i = 0; i < begin.size(); ++i) {
    before(stream_);
    begin[i].record(stream_);
    work(stream_);
    end[i].record(stream_);
  }
  KernelSamples timing;
  timing.state = nvml_.state(device_);
  stream_.wait();
  for (std::size_t i = 0; i < begin.size(); ++i)
    timing.samples.push_back(std::max(end[i].since(begin[i]), 1e-9) / calls);
  return timing;
}

KernelSamples KernelTimer::warm(const Work& work) {
  const double one = estimate(work);
  const int calls = std::clamp(static_cast<int>(std::ceil(kReplay / one)), 1, 256);
  const CudaGraph graph(stream_, work, calls);
  graph.launch(stream_);
  return timed(
      one * calls, calls, [&](cudaStream_t stream) { graph.launch(stream); }, [](cudaStream_t) {});
}

KernelSamples KernelTimer::cold(const Work& work) {
  return timed(estimate(work), 1, work,
               [&](cudaStream_t stream) { read_all(flush_.data(), never_.data(), flush_.size(), stream); });
}

KernelSamples KernelTimer::stream(const Work& work, int calls) {
  const auto all = [&](cudaStream_t stream) {
    for (int i = 0; i < calls; ++i) work(stream);
  };
  return timed(estimate(work) * calls, calls, all, [](cudaStream_t) {});
}

}  // namespace stepcast::measure
