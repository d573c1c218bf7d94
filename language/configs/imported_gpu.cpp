#include "language/configs/imported_gpu.h"

#include <utility>
#include <vector>

#include "language/configs/files.h"
#include "language/core/library.h"

namespace stepcast::language {
namespace {

/// By the PCI device id where both name one, else by the compute capability.
bool fits(const schedules::Gpu& gpu, const topology::XmlGpu& said) {
  if (!gpu.pci_device.empty() && !said.pci_device.empty()) return gpu.pci_device == said.pci_device;
  return said.compute_capability != 0 && gpu.compute_capability == said.compute_capability;
}

}  // namespace

schedules::Gpu find_imported_gpu(const topology::XmlGpu& said, const Value& value, const std::string& shown) {
  std::vector<schedules::Gpu> found;
  for (const std::string& name : value.library->names("gpus")) {
    schedules::Gpu gpu = read_gpu_named(name, value);
    if (fits(gpu, said)) found.push_back(std::move(gpu));
  }
  if (found.size() == 1) return found.front();
  std::string what = "missing, expected a file of configs/gpus/ by its name: " + shown;
  if (!said.pci_device.empty()) what += " has GPUs of PCI device " + said.pci_device;
  if (said.compute_capability != 0) {
    what += (said.pci_device.empty() ? " has GPUs of" : " and") + std::string(" compute capability ") +
            std::to_string(said.compute_capability / 10) + '.' + std::to_string(said.compute_capability % 10);
  }
  if (said.pci_device.empty() && said.compute_capability == 0) what += " does not say which";
  for (std::size_t i = 0; i < found.size(); ++i) {
    what += (i == 0 ? ", which may be " : i + 1 == found.size() ? " or " : ", ") + found[i].name;
  }
  fail(locate(*value.node, "gpu"), join(value.path, "gpu"), what);
}

}  // namespace stepcast::language
