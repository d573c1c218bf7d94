#include "calibrate/measure/suites/interference_suite.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/device/near_host.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/communicators.h"
#include "calibrate/measure/suites/prepare.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr int kRepeats = 15;
constexpr std::int64_t kBytes = std::int64_t{64} << 20;  // of a copy, or of an all-reduce

/// Work on a stream, round after round.
struct RoundsOnStream {
  std::string name;
  cudaStream_t stream = nullptr;
  Work round;
  int timed = 1;  ///< rounds of a sample: enough to take milliseconds
};

/// Seconds of the timed rounds of `slowed`, with `busy` rounds of `beside` under way from before they start (0: alone).
/// `wait`: until all that was put on both streams is done.
double time_once(const RoundsOnStream& slowed, const RoundsOnStream* beside, int busy,
                 const std::function<void()>& wait) {
  const CudaEvent begin, end, under_way;
  if (beside != nullptr) {
    for (int i = 0; i < busy; ++i) {
      beside->round(beside->stream);
      if (i == 0) under_way.record(beside->stream);
    }
    check_cuda(cudaStreamWaitEvent(slowed.stream, under_way, 0), "cudaStreamWaitEvent");
  }
  begin.record(slowed.stream);
  for (int i = 0; i < slowed.timed; ++i) slowed.round(slowed.stream);
  end.record(slowed.stream);
  wait();
  return std::max(end.since(begin), 1e-9);
}

/// What one GPU runs, made by a thread that is near it.
class GpuWork {
 public:
  GpuWork(int gpu, int next, cudaStream_t collective)
      : gpu_(gpu), pinned_(kBytes), device_(kBytes), reduced_(kBytes / 4), collective_(collective) {
    const std::string dtype = compute_capability() >= 80 ? "bf16" : "fp16";
    KernelCase triad;
    triad.suite = "stream";
    triad.kernel = "triad";
    triad.bytes = 3 * (std::int64_t{256} << 20);
    computes_ = {{"gemm", stream_, prepare(gemm_case(dtype, "TN", 1, 8192, 8192, 4096, 0), gemm_, stream_).work, 10},
                 {"stream", stream_, prepare(triad, gemm_, stream_).work, 20}};
    copies_.push_back({"copy_h2d", side_, [this](cudaStream_t s) {
                         check_cuda(cudaMemcpyAsync(device_.data(), pinned_.data(), kBytes, cudaMemcpyHostToDevice, s),
                                    "cudaMemcpyAsync");
                       }});
    if (next == gpu) return;
    check_cuda(cudaSetDevice(next), "cudaSetDevice");
    there_ = Buffer<unsigned char>(kBytes);
    check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
    copies_.push_back({"copy_p2p", side_, [this, next](cudaStream_t s) {
                         check_cuda(cudaMemcpyPeerAsync(there_.data(), next, device_.data(), gpu_, kBytes, s),
                                    "cudaMemcpyPeerAsync");
                       }});
  }
  GpuWork(const GpuWork&) = delete;
  GpuWork& operator=(const GpuWork&) = delete;

  const std::vector<RoundsOnStream>& computes() const { return computes_; }
  const std::vector<RoundsOnStream>& copies() const { return copies_; }
  RoundsOnStream all_reduce(ncclComm_t comm) {
    return {"all_reduce", collective_,
            [this, comm](cudaStream_t s) {
              check_nccl(ncclAllReduce(reduced_.data(), reduced_.data(), kBytes / 4, ncclFloat32, ncclMax, comm, s),
                         "ncclAllReduce");
            },
            8};
  }

 private:
  int gpu_;
  Stream stream_, side_;
  CublasGemm gemm_;
  PinnedMemory pinned_;
  Buffer<unsigned char> device_, there_;
  Buffer<float> reduced_;
  cudaStream_t collective_;
  std::vector<RoundsOnStream> computes_, copies_;
};

class Interference {
 public:
  Interference(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus)
      : cluster_(cluster),
        gpus_(gpus),
        guard_(folder, run, "interference", cluster),
        table_(folder / "interference.csv", run,
               {"slowed", "beside", "gpu", "bytes", "alone_s", "together_s", "repeats"}, 4) {}

  /// One GPU after the other, beside its copies.
  void beside_copies() {
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      const std::string what = "compute beside copies on GPU " + std::to_string(gpu);
      if (table_.has(key("stream", "none", gpu)) || guard_.refused(what)) continue;
      say("interference: " + what);
      guard_.measure(what, [&] {
        check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
        bind_near(gpu);
        GpuWork work(gpu, (gpu + 1) % gpus_, nullptr);
        for (const RoundsOnStream& compute : work.computes()) {
          for (const RoundsOnStream& copy : work.copies()) {
            const auto wait = [&] {
              check_cuda(cudaStreamSynchronize(compute.stream), "cudaStreamSynchronize");
              check_cuda(cudaStreamSynchronize(copy.stream), "cudaStreamSynchronize");
            };
            const double alone = median(compute, nullptr, 0, wait), round = round_of(copy, wait);
            add(compute.name, copy.name, gpu, alone, median(compute, &copy, busy_rounds(alone, round), wait));
          }
          const auto wait = [&] { check_cuda(cudaStreamSynchronize(compute.stream), "cudaStreamSynchronize"); };
          const double alone = median(compute, nullptr, 0, wait);
          add(compute.name, "none", gpu, alone, median(compute, nullptr, 0, wait));
        }
      });
    }
  }

  /// All GPUs at once: compute and all-reduces, each slowed by the other.
  void beside_collectives() {
    const std::string what = "compute and all-reduces over " + std::to_string(gpus_) + " GPUs";
    if (gpus_ < 2 || table_.has(key("all_reduce", "stream", gpus_ - 1)) || guard_.refused(what)) return;
    say("interference: " + what);
    guard_.measure(what, [&] {
      std::vector<int> all(static_cast<std::size_t>(gpus_));
      std::iota(all.begin(), all.end(), 0);
      Communicators comms(all, cluster_);
      std::vector<double> shared(all.size());
      std::mutex mutex;
      comms.together(what, [&](std::size_t i, RankTeam& team) {
        const int gpu = static_cast<int>(i);
        team.does(i, "making its work");
        GpuWork work(gpu, gpu, comms.stream(i));
        const RoundsOnStream reduce = work.all_reduce(comms.comm(i));
        /// The largest of all ranks' values, so that all of them put as many rounds on their streams.
        const auto most = [&](double value) {
          shared[i] = value;
          team.meet(i);
          const double largest = *std::max_element(shared.begin(), shared.end());
          team.meet(i);
          return largest;
        };
        for (const RoundsOnStream& compute : work.computes()) {
          const auto wait = [&] {
            comms.wait(i, team);
            team.wait_until(i, [&] {
              const cudaError_t code = cudaStreamQuery(compute.stream);
              if (code != cudaErrorNotReady) check_cuda(code, "cudaStreamQuery");
              return code == cudaSuccess;
            });
            team.meet(i);
          };
          team.does(i, compute.name + " and all-reduces");
          const double compute_alone = median(compute, nullptr, 0, wait);
          const double reduce_alone = median(reduce, nullptr, 0, wait);
          const int reduces = busy_rounds(most(compute_alone), most(reduce_alone / reduce.timed));
          const int computes = busy_rounds(most(reduce_alone), most(compute_alone / compute.timed));
          const double compute_beside = median(compute, &reduce, reduces, wait);
          const double reduce_beside = median(reduce, &compute, computes, wait);
          const std::lock_guard lock(mutex);
          add(compute.name, reduce.name, gpu, compute_alone, compute_beside);
          add(reduce.name, compute.name, gpu, reduce_alone, reduce_beside);
        }
      });
    });
  }

  void finish() {
    table_.finish();
    guard_.finish();
  }

 private:
  static std::vector<std::string> key(const std::string& slowed, const std::string& beside, int gpu) {
    return {slowed, beside, std::to_string(gpu), beside == "none" ? "-" : std::to_string(kBytes)};
  }
  void add(const std::string& slowed, const std::string& beside, int gpu, double alone, double together) {
    std::vector<std::string> cells = key(slowed, beside, gpu);
    if (table_.has(cells)) return;
    cells.insert(cells.end(), {seconds_cell(alone), seconds_cell(together), std::to_string(kRepeats)});
    table_.add(cells);
  }
  /// So many rounds last three times as long as what they stand beside.
  static int busy_rounds(double alone, double round) { return static_cast<int>(std::ceil(3 * alone / round)) + 1; }
  static double median(const RoundsOnStream& slowed, const RoundsOnStream* beside, int busy,
                       const std::function<void()>& wait) {
    std::vector<double> samples;
    time_once(slowed, beside, busy, wait);
    for (int i = 0; i < kRepeats; ++i) samples.push_back(time_once(slowed, beside, busy, wait));
    return spread_of(samples).median;
  }
  /// Seconds of one round, nothing beside it.
  static double round_of(RoundsOnStream rounds, const std::function<void()>& wait) {
    rounds.timed = 8;
    time_once(rounds, nullptr, 0, wait);
    return time_once(rounds, nullptr, 0, wait) / rounds.timed;
  }

  const ProcessGroup& cluster_;
  int gpus_;
  CaseGuard guard_;
  BundleTable table_;
};

}  // namespace

void run_interference_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                            int gpus) {
  Interference interference(folder, run, cluster, gpus);
  interference.beside_copies();
  interference.beside_collectives();
  interference.finish();
}

}  // namespace stepcast::measure
