#include "calibrate/measure/suites/interference_suite.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/suites/communicators.h"
#include "calibrate/measure/suites/prepare.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr int kRepeats = 15;
constexpr std::int64_t kBytes = std::int64_t{64} << 20;  // of a copy, or of an all-reduce

/// Something that keeps a link busy: `start` puts one of it on `stream`.
struct Neighbour {
  std::string name;
  cudaStream_t stream = nullptr;
  std::function<void()> start;
};

struct Compute {
  std::string name;
  Work work;
  int calls = 1;  ///< enough to take milliseconds
};

/// Seconds of the compute, with `busy` neighbours under way from before it starts (0: alone).
double time_once(const Compute& compute, cudaStream_t stream, const Neighbour* neighbour, int busy) {
  const CudaEvent begin, end, under_way;
  if (neighbour != nullptr) {
    for (int i = 0; i < busy; ++i) {
      neighbour->start();
      if (i == 0) under_way.record(neighbour->stream);
    }
    check_cuda(cudaStreamWaitEvent(stream, under_way, 0), "cudaStreamWaitEvent");
  }
  begin.record(stream);
  for (int i = 0; i < compute.calls; ++i) compute.work(stream);
  end.record(stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (neighbour != nullptr) check_cuda(cudaStreamSynchronize(neighbour->stream), "cudaStreamSynchronize");
  return end.since(begin);
}

double median_of(const Compute& compute, cudaStream_t stream, const Neighbour* neighbour, int busy) {
  std::vector<double> samples;
  time_once(compute, stream, neighbour, busy);
  for (int i = 0; i < kRepeats; ++i) samples.push_back(time_once(compute, stream, neighbour, busy));
  return spread_of(samples).median;
}

/// Seconds of one of the neighbour's rounds, nothing beside it.
double round_of(const Neighbour& neighbour) {
  constexpr int kRounds = 8;
  const CudaEvent begin, end;
  neighbour.start();
  begin.record(neighbour.stream);
  for (int i = 0; i < kRounds; ++i) neighbour.start();
  end.record(neighbour.stream);
  check_cuda(cudaStreamSynchronize(neighbour.stream), "cudaStreamSynchronize");
  return std::max(end.since(begin) / kRounds, 1e-6);
}

}  // namespace

void run_interference_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster,
                            int gpus) {
  BundleTable table(folder / "interference.csv", run, {"compute", "with", "bytes", "alone_s", "together_s", "repeats"},
                    3);
  std::vector<int> all(static_cast<std::size_t>(gpus));
  std::iota(all.begin(), all.end(), 0);
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  const Stream stream, side;
  CublasGemm gemm;
  const std::string dtype = compute_capability() >= 80 ? "bf16" : "fp16";
  KernelCase triad;
  triad.suite = "stream";
  triad.kernel = "triad";
  triad.bytes = 3 * (std::int64_t{256} << 20);
  const std::vector<Compute> computes{
      {"gemm", prepare(gemm_case(dtype, "TN", 1, 8192, 8192, 4096, 0), gemm, stream).work, 10},
      {"stream", prepare(triad, gemm, stream).work, 20}};

  const PinnedMemory pinned(kBytes);
  const Buffer<unsigned char> device(kBytes);
  std::vector<Neighbour> neighbours;
  neighbours.push_back({"copy_h2d", side, [&] {
                          check_cuda(
                              cudaMemcpyAsync(device.data(), pinned.data(), kBytes, cudaMemcpyHostToDevice, side),
                              "cudaMemcpyAsync");
                        }});
  Buffer<unsigned char> there;
  std::unique_ptr<Communicators> comms;
  std::vector<Buffer<float>> reduced;
  if (gpus > 1) {
    check_cuda(cudaSetDevice(1), "cudaSetDevice");
    there = Buffer<unsigned char>(kBytes);
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
    neighbours.push_back({"copy_p2p", side, [&] {
                            check_cuda(cudaMemcpyPeerAsync(there.data(), 1, device.data(), 0, kBytes, side),
                                       "cudaMemcpyPeerAsync");
                          }});
    comms = std::make_unique<Communicators>(all, cluster);
    for (const int gpu : all) {
      check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
      reduced.emplace_back(kBytes / 4);
    }
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
    neighbours.push_back({"all_reduce", comms->stream(0), [&] {
                            check_nccl(ncclGroupStart(), "ncclGroupStart");
                            for (std::size_t i = 0; i < comms->here(); ++i) {
                              check_nccl(ncclAllReduce(reduced[i].data(), reduced[i].data(), kBytes / 4, ncclFloat32,
                                                       ncclMax, comms->comm(i), comms->stream(i)),
                                         "ncclAllReduce");
                            }
                            check_nccl(ncclGroupEnd(), "ncclGroupEnd");
                            check_cuda(cudaSetDevice(0), "cudaSetDevice");
                          }});
  }
  for (const Compute& compute : computes) {
    const double alone = median_of(compute, stream, nullptr, 0);
    const auto add = [&](const std::string& with, const std::string& bytes, double together) {
      table.add({compute.name, with, bytes, seconds_cell(alone), seconds_cell(together), std::to_string(kRepeats)});
    };
    if (!table.has({compute.name, "none", "-"})) add("none", "-", median_of(compute, stream, nullptr, 0));
    for (const Neighbour& neighbour : neighbours) {
      if (table.has({compute.name, neighbour.name, std::to_string(kBytes)})) continue;
      say("interference: " + compute.name + " beside " + neighbour.name);
      const int busy = static_cast<int>(std::ceil(3 * alone / round_of(neighbour))) + 1;
      add(neighbour.name, std::to_string(kBytes), median_of(compute, stream, &neighbour, busy));
    }
  }
  table.finish();
}

}  // namespace stepcast::measure
