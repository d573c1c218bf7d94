#include "calibrate/measure/suites/communicators.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace stepcast::measure {

void check_nccl(ncclResult_t code, const char* call) {
  if (code == ncclSuccess) return;
  int device = -1;
  cudaGetDevice(&device);
  throw std::runtime_error(std::string(call) + " on GPU " + std::to_string(device) + ": " + ncclGetErrorString(code));
}

Communicators::Communicators(const std::vector<int>& gpus, const ProcessGroup& cluster)
    : gpus_(gpus),
      ranks_(static_cast<int>(gpus.size()) * cluster.nodes()),
      first_(static_cast<int>(gpus.size()) * cluster.node()),
      comms_(gpus.size(), nullptr) {
  ncclUniqueId id{};
  if (cluster.node() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  cluster.broadcast(&id, sizeof(id));
  for (const int gpu : gpus_) {
    check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
    streams_.emplace_back();
  }
  check_nccl(ncclGroupStart(), "ncclGroupStart");
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    check_cuda(cudaSetDevice(gpus_[i]), "cudaSetDevice");
    check_nccl(ncclCommInitRank(&comms_[i], ranks_, id, rank(i)), "ncclCommInitRank");
  }
  check_nccl(ncclGroupEnd(), "ncclGroupEnd of ncclCommInitRank");
}

Communicators::~Communicators() {
  for (const ncclComm_t comm : comms_) {
    if (comm != nullptr) ncclCommDestroy(comm);
  }
}

void Communicators::on_every_gpu(const std::function<void(std::size_t)>& function) const {
  std::vector<std::exception_ptr> problems(gpus_.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        check_cuda(cudaSetDevice(gpus_[i]), "cudaSetDevice");
        function(i);
      } catch (...) {
        problems[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
}

}  // namespace stepcast::measure
