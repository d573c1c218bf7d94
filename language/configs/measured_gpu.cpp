#include "language/configs/measured_gpu.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "language/configs/files.h"
#include "language/core/read_mapping.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

schedules::Gpu read_gpu(const std::string& file, Library& library) {
  schedules::Gpu gpu;
  read(gpu_table(), library.expand_block(make_scalar(file, {"--gpu", 0, 0}), gpu_schema(), "gpu"), "gpu", library, gpu);
  if (gpu.name.empty()) gpu.name = file;
  return gpu;
}

bool same_chip(const schedules::Gpu& gpu, const calibrate::MeasuredMachine& machine) {
  return gpu.compute_capability == machine.compute_capability && gpu.sms == machine.sms;
}

bool same_memory(const schedules::Gpu& gpu, const calibrate::MeasuredMachine& machine) {
  return std::abs(gpu.memory / machine.memory - 1) <= 0.05;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Parts of "a100-sxm4-80gb" that stand in "NVIDIA A100-SXM4-80GB".
int parts_told(const std::string& file, const std::string& driver_name) {
  const std::string name = lower(driver_name);
  int told = 0;
  for (std::size_t at = 0; at <= file.size();) {
    const std::size_t end = std::min(file.find('-', at), file.size());
    if (name.find(file.substr(at, end - at)) != std::string::npos) ++told;
    at = end + 1;
  }
  return told;
}

std::string chip(const calibrate::MeasuredMachine& machine) {
  return machine.gpu_name + ", compute capability " + std::to_string(machine.compute_capability) + ", " +
         std::to_string(machine.sms) + " SMs";
}

}  // namespace

MeasuredGpu find_measured_gpu(const calibrate::MeasuredMachine& machine, const std::string& wanted, Library& library) {
  if (!wanted.empty()) {
    MeasuredGpu found{wanted, read_gpu(wanted, library)};
    if (!same_chip(found.gpu, machine)) {
      throw InputError("--gpu", "found '" + wanted + "', but the bundle is of " + chip(machine));
    }
    return found;
  }
  std::vector<MeasuredGpu> fitting;
  int most = 0;
  for (const std::string& file : library.names("gpus")) {
    MeasuredGpu found{file, read_gpu(file, library)};
    if (!same_chip(found.gpu, machine) || !same_memory(found.gpu, machine)) continue;
    const int told = parts_told(file, machine.gpu_name);
    if (told > most) fitting.clear();
    if (told >= most) fitting.push_back(std::move(found));
    most = std::max(most, told);
  }
  if (fitting.size() == 1) return fitting.front();
  std::string names;
  for (const MeasuredGpu& each : fitting) names += (names.empty() ? "" : ", ") + each.file;
  throw InputError("--gpu", "missing: " + chip(machine) + " may be " +
                                (names.empty() ? "none of configs/gpus/" : "each of " + names));
}

}  // namespace stepcast::language
