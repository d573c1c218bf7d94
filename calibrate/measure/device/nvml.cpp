#include "calibrate/measure/device/nvml.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <array>

namespace stepcast::measure {
namespace {

// From nvml.h: its calls are a stable interface of the driver; enumerations are passed as int.
using Device = void*;
constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_bus)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*max_clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*ecc)(Device, int*, int*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;

  template <class Function>
  void find(Function& to, const char* name) {
    to = reinterpret_cast<Function>(dlsym(handle, name));
  }

  Device device(int cuda_device) const {
    std::array<char, 32> bus{};
    Device device = nullptr;
    if (by_bus == nullptr ||
        cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), cuda_device) != cudaSuccess ||
        by_bus(bus.data(), &device) != kSuccess) {
      return nullptr;
    }
    return device;
  }
};

Nvml::Nvml() : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (l.handle == nullptr) return;
  int (*init)() = nullptr;
  l.find(init, "nvmlInit_v2");
  if (init == nullptr || init() != kSuccess) return;
  l.find(l.shutdown, "nvmlShutdown");
  l.find(l.by_bus, "nvmlDeviceGetHandleByPciBusId_v2");
  l.find(l.clock, "nvmlDeviceGetClockInfo");
  l.find(l.max_clock, "nvmlDeviceGetMaxClockInfo");
  l.find(l.power, "nvmlDeviceGetPowerUsage");
  l.find(l.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  l.find(l.temperature, "nvmlDeviceGetTemperature");
  l.find(l.reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (l.reasons == nullptr) l.find(l.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // drivers before 535
  l.find(l.ecc, "nvmlDeviceGetEccMode");
  l.find(l.driver, "nvmlSystemGetDriverVersion");
  l.find(l.uuid, "nvmlDeviceGetUUID");
}

Nvml::~Nvml() {
  if (library_->shutdown != nullptr) library_->shutdown();
  if (library_->handle != nullptr) dlclose(library_->handle);
}

GpuState Nvml::state(int cuda_device) const {
  GpuState state;
  const Library& l = *library_;
  const Device device = l.device(cuda_device);
  if (device == nullptr) return state;
  unsigned value = 0;
  unsigned long long reasons = 0;
  if (l.clock != nullptr && l.clock(device, kClockSm, &value) == kSuccess) state.clock_mhz = value;
  if (l.power != nullptr && l.power(device, &value) == kSuccess) state.power_w = value / 1000.0;
  if (l.temperature != nullptr && l.temperature(device, kTemperatureGpu, &value) == kSuccess)
    state.temperature_c = value;
  if (l.reasons != nullptr && l.reasons(device, &reasons) == kSuccess) state.reasons = reasons;
  return state;
}

std::string Nvml::driver() const {
  std::array<char, 96> text{};
  if (library_->driver == nullptr || library_->driver(text.data(), text.size()) != kSuccess) return "-";
  return text.data();
}

std::string Nvml::uuid(int cuda_device) const {
  std::array<char, 96> text{};
  const Device device = library_->device(cuda_device);
  if (device == nullptr || library_->uuid == nullptr || library_->uuid(device, text.data(), text.size()) != kSuccess)
    return "";
  return text.data();
}

std::string Nvml::max_clock_mhz(int cuda_device, bool memory) const {
  unsigned value = 0;
  const Device device = library_->device(cuda_device);
  if (device == nullptr || library_->max_clock == nullptr ||
      library_->max_clock(device, memory ? kClockMemory : kClockSm, &value) != kSuccess) {
    return "-";
  }
  return std::to_string(value);
}

std::string Nvml::power_limit_w(int cuda_device) const {
  unsigned value = 0;
  const Device device = library_->device(cuda_device);
  if (device == nullptr || library_->power_limit == nullptr || library_->power_limit(device, &value) != kSuccess)
    return "-";
  return std::to_string(value / 1000);
}

std::string Nvml::ecc(int cuda_device) const {
  int current = 0, pending = 0;
  const Device device = library_->device(cuda_device);
  if (device == nullptr || library_->ecc == nullptr || library_->ecc(device, &current, &pending) != kSuccess)
    return "-";
  return current != 0 ? "on" : "off";
}

}  // namespace stepcast::measure
