#include "calibrate/measure/suites/copy_suite.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/device/near_host.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/rank_team.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/host/supervise.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr int kWarmUps = 3;

int repeats_for(std::int64_t bytes) { return bytes <= 1 << 20 ? 50 : bytes <= 1 << 26 ? 20 : 10; }

/// Seconds on the GPU between two events around `copy`.
std::vector<double> by_events(int repeats, cudaStream_t stream, const std::function<void()>& copy) {
  std::vector<double> samples;
  for (int i = 0; i < kWarmUps + repeats; ++i) {
    const CudaEvent begin, end;
    begin.record(stream);
    copy();
    end.record(stream);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (i >= kWarmUps) samples.push_back(std::max(end.since(begin), 1e-9));
  }
  return samples;
}

/// Seconds of the host until `copy` is done: what copies of pageable memory take of a program.
std::vector<double> by_host(int repeats, const std::function<void()>& copy) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < kWarmUps + repeats; ++i) {
    const Clock::time_point begin = Clock::now();
    copy();
    if (i >= kWarmUps) samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return samples;
}

void add(BundleTable& table, const std::vector<std::string>& key, const std::vector<double>& samples) {
  const SampleSpread spread = spread_of(samples);
  std::vector<std::string> cells = key;
  cells.push_back(std::to_string(spread.repeats));
  for (const double seconds : {spread.median, spread.p10, spread.p90}) cells.push_back(seconds_cell(seconds));
  table.add(cells);
}

/// A GPU's memory and the host's beside it, for copies of up to so many bytes. Made by a thread that is near the GPU.
class CopiesOfOneGpu {
 public:
  CopiesOfOneGpu(int gpu, std::int64_t most)
      : name_(std::to_string(gpu)),
        device_(most),
        device_out_(most),
        pinned_(static_cast<std::size_t>(most)),
        pinned_out_(static_cast<std::size_t>(most)),
        pageable_(static_cast<std::size_t>(most), 1) {}

  std::vector<std::string> key(const std::string& kind, const std::string& memory, int at_once,
                               std::int64_t bytes) const {
    const bool to_gpu = kind != "d2h";
    return {
        kind, memory, to_gpu ? "host" : name_, to_gpu ? name_ : "host", std::to_string(at_once), std::to_string(bytes)};
  }

  std::vector<double> time(const std::string& kind, const std::string& memory, std::int64_t size) {
    const auto bytes = static_cast<std::size_t>(size);
    const int repeats = repeats_for(size);
    if (memory == "pageable") {
      const bool in = kind == "h2d";
      return by_host(repeats, [&] {
        check_cuda(cudaMemcpy(in ? device_.data() : pageable_.data(), in ? pageable_.data() : device_.data(), bytes,
                              in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost),
                   "cudaMemcpy");
        check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
      });
    }
    const auto copy = [&](void* to, const void* from, cudaMemcpyKind way, cudaStream_t on) {
      check_cuda(cudaMemcpyAsync(to, from, bytes, way, on), "cudaMemcpyAsync");
    };
    return by_events(repeats, stream_, [&] {
      if (kind == "h2d") return copy(device_.data(), pinned_.data(), cudaMemcpyHostToDevice, stream_);
      if (kind == "d2h") return copy(pinned_.data(), device_.data(), cudaMemcpyDeviceToHost, stream_);
      const CudaEvent begun, done;
      begun.record(stream_);
      check_cuda(cudaStreamWaitEvent(other_, begun, 0), "cudaStreamWaitEvent");
      copy(device_.data(), pinned_.data(), cudaMemcpyHostToDevice, stream_);
      copy(pinned_out_.data(), device_out_.data(), cudaMemcpyDeviceToHost, other_);
      done.record(other_);
      check_cuda(cudaStreamWaitEvent(stream_, done, 0), "cudaStreamWaitEvent");
    });
  }

 private:
  std::string name_;
  Stream stream_, other_;
  Buffer<unsigned char> device_, device_out_;
  PinnedMemory pinned_, pinned_out_;
  std::vector<unsigned char> pageable_;
};

/// Runs a function for each GPU, in a thread of its own near that GPU. Throws CaseFailed.
void near_each(const std::vector<int>& gpus, const std::string& what,
               const std::function<void(std::size_t, RankTeam&)>& function) {
  RankTeam team(gpus, what, kCasePatience);
  team.run(
      [&](std::size_t i) {
        check_cuda(cudaSetDevice(gpus[i]), "cudaSetDevice");
        bind_near(gpus[i]);
        function(i, team);
      },
      [](std::size_t) {});
}

/// Copies of these GPUs from and to the host at the same time, each by its own clock; of one GPU alone pageable too.
void with_host(BundleTable& table, const std::vector<int>& gpus, const std::vector<std::int64_t>& sizes,
               const std::string& what) {
  const int at_once = static_cast<int>(gpus.size());
  std::mutex mutex;
  near_each(gpus, what, [&](std::size_t i, RankTeam& team) {
    CopiesOfOneGpu copies(gpus[i], sizes.back());
    for (const std::int64_t size : sizes) {
      for (const auto& [kind, memory] :
           {std::pair{"h2d", "pinned"}, std::pair{"d2h", "pinned"}, std::pair{"both", "pinned"},
            std::pair{"h2d", "pageable"}, std::pair{"d2h", "pageable"}}) {
        if (at_once > 1 && memory == std::string("pageable")) continue;
        const std::vector<std::string> key = copies.key(kind, memory, at_once, size);
        team.does(i, std::string(kind) + " " + memory + " of " + std::to_string(size) + " bytes");
        bool done = false;
        {
          const std::lock_guard lock(mutex);
          done = table.has(key);
        }
        // GPUs that copy at once all do, or one would be measured alone where a row of another is there already.
        if (at_once == 1 && done) continue;
        team.meet(i);
        const std::vector<double> samples = copies.time(kind, memory, size);
        const std::lock_guard lock(mutex);
        if (!done) add(table, key, samples);
      }
    }
  });
}

void allow_peers(int from, int to) {
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
  if (can == 0) {
    say("GPU " + std::to_string(from) + " cannot reach GPU " + std::to_string(to) + ": copies bounce through the host");
    return;
  }
  check_cuda(cudaSetDevice(from), "cudaSetDevice");
  const cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
  } else {
    check_cuda(code, "cudaDeviceEnablePeerAccess");
  }
}

void between(BundleTable& table, int from, int to, const std::vector<std::int64_t>& sizes) {
  allow_peers(from, to);
  check_cuda(cudaSetDevice(to), "cudaSetDevice");
  const Buffer<unsigned char> there(sizes.back());
  check_cuda(cudaSetDevice(from), "cudaSetDevice");
  const Buffer<unsigned char> here(sizes.back());
  const Stream stream;
  for (const std::int64_t size : sizes) {
    const std::vector<std::string> key{
        "p2p", "device", std::to_string(from), std::to_string(to), "1", std::to_string(size)};
    if (table.has(key)) continue;
    add(table, key, by_events(repeats_for(size), stream, [&] {
          check_cuda(cudaMemcpyPeerAsync(there.data(), to, here.data(), from, static_cast<std::size_t>(size), stream),
                     "cudaMemcpyPeerAsync");
        }));
  }
}

}  // namespace

void run_copy_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus,
                    bool quick) {
  CaseGuard guard(folder, run, "copies", cluster);
  BundleTable table(folder / "copies.csv", run,
                    {"kind", "memory", "from", "to", "at_once", "bytes", "repeats", "median_s", "p10_s", "p90_s"}, 6);
  const std::vector<std::int64_t> sizes = doubling_sizes(4096, std::int64_t{1} << (quick ? 28 : 30), quick ? 4 : 2);
  const auto measure = [&](const std::string& what, const std::function<void()>& function) {
    if (guard.refused(what)) return;
    say("copies " + what);
    guard.measure(what, function);
  };
  std::vector<int> all;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    all.push_back(gpu);
    const std::string what = "between the host and GPU " + std::to_string(gpu);
    measure(what, [&] { with_host(table, {gpu}, sizes, what); });
  }
  if (gpus > 1) {
    const std::string what = "between the host and " + std::to_string(gpus) + " GPUs at once";
    // From 1 MiB on: shorter ones are over before the other GPUs' have begun.
    const std::vector<std::int64_t> large = doubling_sizes(1 << 20, sizes.back(), 2);
    measure(what, [&] { with_host(table, all, large, what); });
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      measure("from GPU " + std::to_string(from) + " to GPU " + std::to_string(to),
              [&] { between(table, from, to, sizes); });
    }
  }
  table.finish();
  guard.finish();
}

}  // namespace stepcast::measure
