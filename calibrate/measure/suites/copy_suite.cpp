#include "calibrate/measure/suites/copy_suite.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/statistics.h"
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

void with_host(BundleTable& table, int gpu, const std::vector<std::int64_t>& sizes) {
  check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
  const auto most = static_cast<std::size_t>(sizes.back());
  const Stream stream, other;
  const Buffer<unsigned char> device(sizes.back()), device_out(sizes.back());
  const PinnedMemory pinned(most), pinned_out(most);
  std::vector<unsigned char> pageable(most, 1);
  const std::string name = std::to_string(gpu);
  for (const std::int64_t size : sizes) {
    const auto bytes = static_cast<std::size_t>(size);
    const int repeats = repeats_for(size);
    const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind, cudaStream_t on) {
      check_cuda(cudaMemcpyAsync(to, from, bytes, kind, on), "cudaMemcpyAsync");
    };
    const auto measure = [&](const std::string& kind, const std::string& memory, bool to_gpu, auto&& samples) {
      const std::vector<std::string> key{kind, memory, to_gpu ? "host" : name, to_gpu ? name : "host",
                                         std::to_string(size)};
      if (!table.has(key)) add(table, key, samples());
    };
    measure("h2d", "pinned", true, [&] {
      return by_events(repeats, stream, [&] { copy(device.data(), pinned.data(), cudaMemcpyHostToDevice, stream); });
    });
    measure("d2h", "pinned", false, [&] {
      return by_events(repeats, stream, [&] { copy(pinned.data(), device.data(), cudaMemcpyDeviceToHost, stream); });
    });
    measure("both", "pinned", true, [&] {
      return by_events(repeats, stream, [&] {
        const CudaEvent begun, done;
        begun.record(stream);
        check_cuda(cudaStreamWaitEvent(other, begun, 0), "cudaStreamWaitEvent");
        copy(device.data(), pinned.data(), cudaMemcpyHostToDevice, stream);
        copy(pinned_out.data(), device_out.data(), cudaMemcpyDeviceToHost, other);
        done.record(other);
        check_cuda(cudaStreamWaitEvent(stream, done, 0), "cudaStreamWaitEvent");
      });
    });
    measure("h2d", "pageable", true, [&] {
      return by_host(repeats, [&] {
        check_cuda(cudaMemcpy(device.data(), pageable.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      });
    });
    measure("d2h", "pageable", false, [&] {
      return by_host(repeats, [&] {
        check_cuda(cudaMemcpy(pageable.data(), device.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
      });
    });
  }
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
    const std::vector<std::string> key{"p2p", "device", std::to_string(from), std::to_string(to), std::to_string(size)};
    if (table.has(key)) continue;
    add(table, key, by_events(repeats_for(size), stream, [&] {
          check_cuda(cudaMemcpyPeerAsync(there.data(), to, here.data(), from, static_cast<std::size_t>(size), stream),
                     "cudaMemcpyPeerAsync");
        }));
  }
}

}  // namespace

void run_copy_suite(const std::filesystem::path& folder, const std::string& run, int gpus, bool quick) {
  BundleTable table(folder / "copies.csv", run,
                    {"kind", "memory", "from", "to", "bytes", "repeats", "median_s", "p10_s", "p90_s"}, 5);
  const std::vector<std::int64_t> sizes = doubling_sizes(4096, std::int64_t{1} << (quick ? 28 : 30), quick ? 4 : 2);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    say("copies between the host and GPU " + std::to_string(gpu));
    with_host(table, gpu, sizes);
  }
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      say("copies from GPU " + std::to_string(from) + " to GPU " + std::to_string(to));
      between(table, from, to, sizes);
    }
  }
  table.finish();
}

}  // namespace stepcast::measure
