#include "calibrate/logs/nvidia_smi.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::string_view kFirstLine = "==============NVSMI LOG==============";
constexpr std::string_view kSmiBlank = " \t\r";
constexpr std::size_t kMostGpus = 1024;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSmiBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSmiBlank) - begin + 1);
}

/// "1410 MHz" without its unit.
std::string number_in(std::string_view value, std::string_view unit, const std::string& place) {
  if (value == "N/A" || value == "[N/A]" || value == "Unknown Error") return {};
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const std::string_view rest(end, static_cast<std::size_t>(value.data() + value.size() - end));
  if (error != std::errc{} || trimmed(rest) != unit || !(number >= 0) || number > 1e12)
    throw InputError(place, "found " + in_quotes(value) + ", expected a number of " + std::string(unit));
  return std::string(value.data(), end);
}

std::string mebibytes(std::string_view value, const std::string& place) {
  const std::string number = number_in(value, "MiB", place);
  if (number.empty()) return {};
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
  if (error != std::errc{} || end != number.data() + number.size())
    throw InputError(place, "found " + in_quotes(value) + ", expected whole MiB");
  return std::to_string(whole << 20);
}

/// "0x20B210DE" is device 0x20b2 of vendor 10de.
std::string pci_device(std::string_view value, const std::string& place) {
  std::string text(value);
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != 10 || !text.starts_with("0x") || !std::ranges::all_of(text.substr(2), is_hex))
    throw InputError(place, "found " + in_quotes(value) + ", expected a PCI id such as 0x20B210DE");
  return text.substr(0, 6);
}

/// The line's headings, outermost first, by their indentation.
class Headings {
 public:
  void enter(std::size_t indent, std::string_view name) {
    leave(indent);
    open_.emplace_back(indent, name);
  }
  void leave(std::size_t indent) {
    while (!open_.empty() && open_.back().first >= indent) open_.pop_back();
  }
  /// The innermost headings are these, in this order.
  template <std::size_t n>
  bool inside(const std::array<std::string_view, n>& names) const {
    if (open_.size() < n) return false;
    return std::ranges::equal(names, std::vector(open_.end() - n, open_.end()), {}, {},
                              [](const auto& heading) { return heading.second; });
  }
  bool inside(std::string_view name) const { return inside(std::array{name}); }

 private:
  std::vector<std::pair<std::size_t, std::string_view>> open_;
};

void store(SmiGpu& gpu, const Headings& at, std::string_view key, std::string_view value, const std::string& place) {
  if (key == "Product Name") {
    gpu.gpu_name = value;
  } else if (key == "Total" && at.inside("FB Memory Usage")) {
    gpu.memory_bytes = mebibytes(value, place);
  } else if (key == "SM" && at.inside("Max Clocks")) {
    gpu.clock_sm_mhz_max = number_in(value, "MHz", place);
  } else if (key == "Memory" && at.inside("Max Clocks")) {
    gpu.clock_mem_mhz_max = number_in(value, "MHz", place);
  } else if ((key == "Power Limit" || key == "Current Power Limit") &&
             (at.inside("Power Readings") || at.inside("GPU Power Readings"))) {
    gpu.power_limit_w = number_in(value, "W", place);
  } else if (key == "Current" && (at.inside("ECC Mode") || at.inside("Ecc Mode"))) {
    gpu.ecc = value == "Enabled" ? "on" : value == "Disabled" ? "off" : std::string(value);
  } else if (key == "Device Id" && at.inside("PCI")) {
    gpu.pci_device = pci_device(value, place);
  } else if (key == "Max" && at.inside(std::array<std::string_view, 2>{"GPU Link Info", "PCIe Generation"})) {
    gpu.pcie_generation = value;
  } else if (key == "Max" && at.inside(std::array<std::string_view, 2>{"GPU Link Info", "Link Width"})) {
    gpu.pcie_width = value;
  }
}

}  // namespace

bool is_smi_query(std::string_view text) { return text.substr(0, 4096).find(kFirstLine) != std::string_view::npos; }

SmiQuery parse_smi_query(std::string_view text, const std::string& file) {
  SmiQuery query;
  Headings at;
  bool begun = false;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end), words = trimmed(line);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words == kFirstLine) {
      if (begun) break;
      begun = true;
      continue;
    }
    if (!begun || words.empty()) continue;
    const std::string place = file + ":" + std::to_string(number);
    const std::size_t indent = line.find_first_not_of(kSmiBlank), colon = words.find(" : ");
    if (indent == 0 && words.starts_with("GPU ") && colon == std::string_view::npos) {
      if (query.gpus.size() == kMostGpus) throw InputError(place, "found more than 1024 GPUs, expected fewer");
      query.gpus.emplace_back();
      at.leave(0);
      continue;
    }
    if (colon == std::string_view::npos) {
      at.enter(indent, words);
      continue;
    }
    at.leave(indent);
    const std::string_view key = trimmed(words.substr(0, colon)), value = trimmed(words.substr(colon + 3));
    if (query.gpus.empty()) {
      if (key == "Timestamp") query.date = value;
      if (key == "Driver Version") query.driver = value;
      if (key == "CUDA Version") query.cuda = value;
    } else {
      store(query.gpus.back(), at, key, value, place);
    }
  }
  if (!begun)
    throw InputError(file, "found no line '" + std::string(kFirstLine) + "', expected what nvidia-smi -q prints");
  if (query.gpus.empty()) throw InputError(file, "found no GPU, expected what nvidia-smi -q prints");
  return query;
}

std::vector<std::pair<std::string, std::string>> machine_facts(const SmiQuery& query) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) facts.emplace_back(key, value);
  };
  add("gpus", std::to_string(query.gpus.size()));
  add("driver", query.driver);
  add("cuda", query.cuda);
  add("date", query.date);
  constexpr std::array kFacts{std::pair{"gpu_name", &SmiGpu::gpu_name},
                              std::pair{"memory_bytes", &SmiGpu::memory_bytes},
                              std::pair{"clock_sm_mhz_max", &SmiGpu::clock_sm_mhz_max},
                              std::pair{"clock_mem_mhz_max", &SmiGpu::clock_mem_mhz_max},
                              std::pair{"power_limit_w", &SmiGpu::power_limit_w},
                              std::pair{"ecc", &SmiGpu::ecc},
                              std::pair{"pci_device", &SmiGpu::pci_device},
                              std::pair{"pcie_generation", &SmiGpu::pcie_generation},
                              std::pair{"pcie_width", &SmiGpu::pcie_width}};
  for (const auto& [key, fact] : kFacts) {
    const bool alike = std::ranges::all_of(
        query.gpus, [&, fact = fact](const SmiGpu& gpu) { return gpu.*fact == query.gpus.front().*fact; });
    if (alike) {
      add(key, query.gpus.front().*fact);
      continue;
    }
    for (std::size_t i = 0; i < query.gpus.size(); ++i)
      add(std::string(key) + "[" + std::to_string(i) + "]", query.gpus[i].*fact);
  }
  return facts;
}

}  // namespace stepcast::calibrate
