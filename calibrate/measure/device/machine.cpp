#include "calibrate/measure/device/machine.h"

#include <cublasLt.h>
#include <nccl.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <thread>

#include "calibrate/measure/host/sha256.h"
#include "calibrate/measure/kernels/check_cuda.h"

namespace stepcast::measure {
namespace {

cudaDeviceProp properties() {
  cudaDeviceProp found{};
  check_cuda(cudaGetDeviceProperties(&found, 0), "cudaGetDeviceProperties");
  return found;
}

/// 12090 is "12.9", as CUDA counts.
std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string cublaslt_version() {  // 130002 is 13.0.2
  const std::size_t v = cublasLtGetVersion();
  const std::size_t major = v >= 100000 ? v / 10000 : v / 1000, rest = v >= 100000 ? v % 10000 : v % 1000;
  return std::to_string(major) + "." + std::to_string(rest / 100) + "." + std::to_string(rest % 100);
}

std::string nccl_version() {  // 22805 is 2.28.5
  int v = 0;
  if (ncclGetVersion(&v) != ncclSuccess) return "-";
  return std::to_string(v / 10000) + "." + std::to_string(v % 10000 / 100) + "." + std::to_string(v % 100);
}

std::string cpu_name() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "-";
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace

int gpus_present() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

int compute_capability() {
  const cudaDeviceProp p = properties();
  return p.major * 10 + p.minor;
}

std::string gpu_name() { return properties().name; }
std::int64_t gpu_memory() { return static_cast<std::int64_t>(properties().totalGlobalMem); }

int cores_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::string gpu_id(const Nvml& nvml) {
  std::string uuid = nvml.uuid(0);
  if (uuid.empty()) {
    const cudaDeviceProp p = properties();
    uuid.assign(p.uuid.bytes, sizeof(p.uuid.bytes));
  }
  return sha256(uuid).substr(0, 16);
}

std::vector<std::pair<std::string, std::string>> machine_rows(const Nvml& nvml, int gpus, const std::string& command) {
  const cudaDeviceProp p = properties();
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"gpu_name", p.name},
          {"gpu_id", gpu_id(nvml)},
          {"gpus", std::to_string(gpus)},
          {"compute_capability", std::to_string(p.major) + "." + std::to_string(p.minor)},
          {"sms", std::to_string(p.multiProcessorCount)},
          {"memory_bytes", std::to_string(p.totalGlobalMem)},
          {"l2_bytes", std::to_string(p.l2CacheSize)},
          {"driver", nvml.driver()},
          {"cuda", cuda_version(runtime)},
          {"cublaslt", cublaslt_version()},
          {"nccl", nccl_version()},
          {"clock_sm_mhz_max", nvml.max_clock_mhz(0, false)},
          {"clock_mem_mhz_max", nvml.max_clock_mhz(0, true)},
          {"power_limit_w", nvml.power_limit_w(0)},
          {"ecc", nvml.ecc(0)},
          {"host_cpu", cpu_name()},
          {"host_cores", std::to_string(std::thread::hardware_concurrency())},
          {"date", now()},
          {"command", command},
          {"timer", "graph"}};
}

}  // namespace stepcast::measure
