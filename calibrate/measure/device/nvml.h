#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace stepcast::measure {

/// What a GPU says of itself at one moment; negative where it does not say.
struct GpuState {
  double clock_mhz = -1, power_w = -1, temperature_c = -1;
  std::uint64_t reasons = 0;  ///< for clocks below the maximum, as in statistics.h
};

/// NVIDIA's management library of the driver, loaded when the program runs: no header of it and nothing to link. Where
/// it is missing all that it would say is "-" or negative.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuState state(int cuda_device) const;
  std::string driver() const;
  std::string uuid(int cuda_device) const;
  std::string max_clock_mhz(int cuda_device, bool memory) const;
  std::string power_limit_w(int cuda_device) const;
  std::string ecc(int cuda_device) const;  ///< on, off

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace stepcast::measure
