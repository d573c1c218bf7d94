#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast::calibrate {

/// Facts of a machine, named as in a bundle's machine.csv where that has them; empty where the output does not say.
struct SmiGpu {
  std::string gpu_name, memory_bytes, clock_sm_mhz_max, clock_mem_mhz_max, power_limit_w, ecc;
  std::string pci_device;  ///< "0x20b2": as files of configs/gpus/ have it
  std::string pcie_generation, pcie_width;
};

struct SmiQuery {
  std::string date, driver, cuda;
  std::vector<SmiGpu> gpus;
};

/// Whether a text is what nvidia-smi -q prints.
bool is_smi_query(std::string_view text);

/// Reads what nvidia-smi -q printed: indented "Key : value" lines below "GPU bus id". Keys that are not there (old
/// drivers, -d) leave facts empty; of output printed again and again, the first. Throws InputError with file:line for a
/// value of another form, and for a text without its first line or without a GPU. `file` is what messages call it.
SmiQuery parse_smi_query(std::string_view text, const std::string& file);

/// The facts as rows key, value: of the machine, and of the GPUs where all are alike. Those that differ from GPU to GPU
/// have the key "gpu_name[0]" and its like.
std::vector<std::pair<std::string, std::string>> machine_facts(const SmiQuery& query);

}  // namespace stepcast::calibrate
