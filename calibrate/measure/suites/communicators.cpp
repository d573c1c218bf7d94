#include "calibrate/measure/suites/communicators.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "calibrate/measure/device/near_host.h"
#include "calibrate/measure/host/supervise.h"

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
    if (comm == nullptr) continue;
    if (broken_) {
      ncclCommAbort(comm);  // to destroy it would wait for the others
    } else {
      ncclCommDestroy(comm);
    }
  }
}

void Communicators::wait(std::size_t local, RankTeam& team) const {
  team.wait_until(local, [&] {
    const cudaError_t code = cudaStreamQuery(streams_[local]);
    if (code == cudaSuccess) return true;
    if (code != cudaErrorNotReady) check_cuda(code, "cudaStreamQuery");
    ncclResult_t problem = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(comms_[local], &problem), "ncclCommGetAsyncError");
    check_nccl(problem, "NCCL while it ran");
    return false;
  });
}

void Communicators::together(const std::string& what, const std::function<void(std::size_t, RankTeam&)>& function,
                             double more_s) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < here(); ++i) numbers.push_back(rank(i));
  RankTeam team(numbers, what, kCasePatience + more_s);
  try {
    team.run(
        [&](std::size_t i) {
          check_cuda(cudaSetDevice(gpus_[i]), "cudaSetDevice");
          bind_near(gpus_[i]);
          function(i, team);
        },
        [&](std::size_t i) {
          if (comms_[i] != nullptr) ncclCommAbort(comms_[i]);
          comms_[i] = nullptr;
        });
  } catch (const CaseFailed&) {
    broken_ = true;
    for (const int gpu : gpus_) {  // what the aborted kernels left is no error of the next case
      cudaSetDevice(gpu);
      cudaGetLastError();
    }
    throw;
  }
}

void Communicators::on_every_gpu(const std::function<void(std::size_t)>& function) const {
  std::vector<std::exception_ptr> problems(gpus_.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        check_cuda(cudaSetDevice(gpus_[i]), "cudaSetDevice");
        bind_near(gpus_[i]);
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
