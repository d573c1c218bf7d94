#include "calibrate/logs/kineto.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using nlohmann::json;

constexpr double kLongest = 4e12;  // microseconds; 46 days, well inside what a time holds

/// A GPU event, its time still as written: microseconds since some epoch, too many to count in picoseconds.
struct Event {
  std::string name;
  KernelClass kind;
  std::uint32_t device = 0;
  double start = 0, duration = 0;
};

std::string text_of(const json& event, const char* key) {
  const auto at = event.find(key);
  return at != event.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::uint32_t device_of(const json& event) {
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return 0;
  const auto device = args->find("device");
  if (device == args->end() || !device->is_number_unsigned()) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(device->get<std::uint64_t>(), 1u << 20));
}

/// Whether an event is of the GPU, and what it does. Old traces write Kernel and Memcpy.
std::optional<KernelClass> kind_of(const json& event, const std::string& name) {
  if (text_of(event, "ph") != "X") return {};
  std::string category = text_of(event, "cat");
  std::ranges::transform(category, category.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (category == "kernel") return class_of(name);
  if (category == "gpu_memcpy" || category == "gpu_memset" || category == "memcpy" || category == "memset")
    return KernelClass::copy;
  return {};
}

}  // namespace

std::vector<KernelSpan> parse_kineto(std::string_view text, const std::string& file) {
  std::vector<Event> events;
  const auto take = [&](const json& event) {
    const std::string name = text_of(event, "name");
    const std::optional<KernelClass> kind = kind_of(event, name);
    if (!kind) return;
    const auto number = [&](const char* key) {
      const auto at = event.find(key);
      if (at == event.end() || !at->is_number() || !std::isfinite(at->get<double>()))
        throw InputError(file, "event " + name + ": " + key + ": expected microseconds");
      return at->get<double>();
    };
    const double start = number("ts"), duration = number("dur");
    if (duration < 0 || duration > kLongest)
      throw InputError(file, "event " + name + ": dur: found " + std::to_string(duration) + ", expected up to 46 days");
    events.push_back({name, *kind, device_of(event), start, duration});
  };
  try {
    // Events are taken as they come and forgotten: traces are larger than what is asked of them.
    const json rest = json::parse(text, [&](int, json::parse_event_t state, json& parsed) {
      if (state != json::parse_event_t::object_end || !parsed.contains("ph")) return true;
      take(parsed);
      return false;
    });
  } catch (const json::exception& error) {
    throw InputError(file, std::string("found no JSON: ") + error.what());
  }
  if (events.empty()) {
    throw InputError(file,
                     "found no event of category kernel, expected a trace of the PyTorch profiler with CUDA "
                     "activities");
  }
  double first = std::numeric_limits<double>::infinity();
  for (const Event& event : events) first = std::min(first, event.start);
  std::vector<KernelSpan> spans;
  for (Event& event : events) {
    if (event.start - first > kLongest)
      throw InputError(file, "event " + event.name + ": more than 46 days after the first");
    spans.push_back({std::move(event.name), event.kind, event.device, from_seconds((event.start - first) * 1e-6),
                     from_seconds(event.duration * 1e-6)});
  }
  return spans;
}

}  // namespace stepcast::calibrate
