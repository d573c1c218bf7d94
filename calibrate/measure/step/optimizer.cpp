#include "calibrate/measure/step/optimizer.h"

#include <algorithm>

#include "calibrate/measure/kernels/stream.h"
#include "calibrate/measure/step/host_adam.h"

namespace stepcast::measure {
namespace {

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

class OnGpu : public AdamOptimizer {
 public:
  OnGpu(Pool& pool, std::int64_t elements)
      : master_(pool.take<float>(elements)), first_(pool.take<float>(elements)), second_(pool.take<float>(elements)) {}

  void begin(const float* values, cudaStream_t stream) override {
    copy(master_.data(), values, master_.bytes(), cudaMemcpyDeviceToDevice, stream);
    for (const PoolBlock<float>* moment : {&first_, &second_})
      check_cuda(cudaMemsetAsync(moment->data(), 0, moment->bytes(), stream), "cudaMemsetAsync");
  }
  void step(const Adam& adam, bf16* parameters, const float* gradient, cudaStream_t stream) override {
    adam_step(adam, parameters, master_.data(), first_.data(), second_.data(), gradient, master_.size(), stream);
  }

 private:
  PoolBlock<float> master_, first_, second_;
};

class OnHost : public AdamOptimizer {
 public:
  OnHost(Pool& pool, std::int64_t elements, int threads)
      : staging_(pool.take<bf16>(std::min(elements, kStaged))),
        gradient_(static_cast<std::size_t>(elements) * sizeof(bf16)),
        parameters_(static_cast<std::size_t>(elements) * sizeof(bf16)),
        master_(static_cast<std::size_t>(elements)),
        first_(master_.size()),
        second_(master_.size()),
        threads_(threads) {}

  void begin(const float* values, cudaStream_t stream) override {
    copy(master_.data(), values, master_.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::fill(first_.begin(), first_.end(), 0.0f);
    std::fill(second_.begin(), second_.end(), 0.0f);
  }
  void step(const Adam& adam, bf16* parameters, const float* gradient, cudaStream_t stream) override {
    const auto elements = static_cast<std::int64_t>(master_.size());
    auto* const host_gradient = static_cast<bf16*>(gradient_.data());
    auto* const host_parameters = static_cast<bf16*>(parameters_.data());
    for (std::int64_t at = 0; at < elements; at += staging_.size()) {
      const std::int64_t count = std::min(staging_.size(), elements - at);
      convert(gradient + at, staging_.data(), count, stream);
      copy(host_gradient + at, staging_.data(), static_cast<std::size_t>(count) * sizeof(bf16), cudaMemcpyDeviceToHost,
           stream);
    }
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    host_adam(adam, host_parameters, master_.data(), first_.data(), second_.data(), host_gradient, elements, threads_);
    copy(parameters, host_parameters, master_.size() * sizeof(bf16), cudaMemcpyHostToDevice, stream);
  }

 private:
  static constexpr std::int64_t kStaged = 16 << 20;  // elements turned to bf16 at a time: a copy of milliseconds
  PoolBlock<bf16> staging_;
  PinnedMemory gradient_, parameters_;
  std::vector<float> master_, first_, second_;
  int threads_;
};

}  // namespace

std::unique_ptr<AdamOptimizer> gpu_optimizer(Pool& pool, std::int64_t elements) {
  return std::make_unique<OnGpu>(pool, elements);
}

std::unique_ptr<AdamOptimizer> host_optimizer(Pool& pool, std::int64_t elements, int threads) {
  return std::make_unique<OnHost>(pool, elements, threads);
}

}  // namespace stepcast::measure
