#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "calibrate/measure/kernels/check_cuda.h"

namespace stepcast::measure {

/// Elements of T in the memory of the GPU that is current when it is made. Not initialised.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t elements) : elements_(elements) {
    void* at = nullptr;
    check_cuda(cudaMalloc(&at, static_cast<std::size_t>(elements) * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(at);
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), elements_(std::exchange(other.elements_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(elements_, other.elements_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) cudaFree(data_);
  }

  T* data() const { return data_; }
  std::int64_t size() const { return elements_; }

  /// Copies to the host, after what was put on `stream`, and waits.
  std::vector<T> values(cudaStream_t stream) const {
    std::vector<T> host(static_cast<std::size_t>(elements_));
    check_cuda(cudaMemcpyAsync(host.data(), data_, host.size() * sizeof(T), cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return host;
  }
  /// Copies from the host and waits. Requires as many elements.
  void set(const std::vector<T>& host, cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

 private:
  T* data_ = nullptr;
  std::int64_t elements_ = 0;
};

}  // namespace stepcast::measure
