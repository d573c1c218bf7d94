#include "calibrate/measure/step/pool.h"

#include <algorithm>

#include "calibrate/measure/kernels/check_cuda.h"

namespace stepcast::measure {

Pool::~Pool() {
  for (const auto& [bytes, blocks] : free_) {
    for (void* const block : blocks) cudaFree(block);
  }
}

void* Pool::get(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  std::vector<void*>& ready = free_[size];
  void* at = nullptr;
  if (ready.empty()) {
    check_cuda(cudaMalloc(&at, size), "cudaMalloc");
    reserved_ += static_cast<std::int64_t>(size);
  } else {
    at = ready.back();
    ready.pop_back();
  }
  in_use_ += static_cast<std::int64_t>(size);
  peak_ = std::max(peak_, in_use_);
  return at;
}

void Pool::put(void* at, std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  free_[size].push_back(at);
  in_use_ -= static_cast<std::int64_t>(size);
}

}  // namespace stepcast::measure
