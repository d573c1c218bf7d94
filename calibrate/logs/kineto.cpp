#include "calibrate/logs/kineto.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "calibrate/logs/no_json.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using nlohmann::json;

constexpr double kLongest = 4e12;  // microseconds; 46 days, well inside what a time holds
constexpr int kDeepest = 64;       // lists and objects inside each other

/// An event as written, what matters of it.
struct TraceEvent {
  std::string phase, category, name;
  std::optional<double> start, duration;
  std::uint32_t device = 0, stream = 0, ranks = 0;
  std::optional<std::uint64_t> correlation;
  std::string collective;  ///< what PyTorch calls it
};

/// A GPU event, its time still as written: microseconds since some epoch, too many to count in picoseconds.
struct GpuEvent {
  std::uint32_t name = 0;
  KernelClass kind{};
  std::uint32_t device = 0;
  double start = 0, duration = 0;
  std::uint32_t stream = 0, ranks = 0;
  std::optional<std::uint64_t> correlation;
  std::optional<collectives::Operation> operation;
};

/// A mark of the host, its time likewise.
struct MarkEvent {
  HostMark::Kind kind{};
  std::string name;
  double start = 0, duration = 0;
};

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Whether an event of the category is of the GPU, and what it does. Old traces write Kernel and Memcpy.
std::optional<KernelClass> kind_of(const TraceEvent& event, const std::string& category) {
  if (category == "kernel") return class_of(event.name);
  if (category == "gpu_memcpy" || category == "gpu_memset" || category == "memcpy" || category == "memset")
    return KernelClass::copy;
  return {};
}

/// Whether the host calls for something on the GPU. Old traces write Runtime.
bool is_launch(const std::string& category) {
  return category == "cuda_runtime" || category == "cuda_driver" || category == "runtime" || category == "hip_runtime";
}

/// What a range of the host marks, if anything. The GPU's copies of these ranges are left out.
std::optional<HostMark::Kind> mark_of(const TraceEvent& event, const std::string& category) {
  if (category.starts_with("gpu")) return {};
  if (event.name.starts_with("ProfilerStep#")) return HostMark::Kind::step;
  if (event.name.starts_with("Optimizer.step#")) return HostMark::Kind::optimizer;
  return {};
}

/// Takes the GPU's events as the parser meets them and forgets the rest: traces are larger than what is asked of them.
/// Events are the objects of the list `traceEvents`, or of a list that is the whole trace.
class TraceReader : public nlohmann::json_sax<json> {
 public:
  TraceReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  KernelNames names;
  std::vector<GpuEvent> events;
  std::vector<MarkEvent> marks;
  std::unordered_map<std::uint64_t, double> launches;  ///< by correlation

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool number_integer(json::number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_float(json::number_float_t value, const json::string_t&) override { return number(value); }
  bool number_unsigned(json::number_unsigned_t value) override {
    if (of_args()) {
      const auto few = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 1u << 20));
      if (inner_key_ == "device") event_.device = few;
      if (inner_key_ == "stream") event_.stream = few;
      if (inner_key_ == "Group size") event_.ranks = few;
      if (inner_key_ == "correlation") event_.correlation = value;
    }
    return number(static_cast<double>(value));
  }
  bool string(json::string_t& value) override {
    if (of_args() && inner_key_ == "Collective name") event_.collective = std::move(value);
    if (!of_event()) return true;
    if (key_ == "ph") event_.phase = std::move(value);
    if (key_ == "cat") event_.category = std::move(value);
    if (key_ == "name") event_.name = std::move(value);
    return true;
  }
  bool key(json::string_t& name) override {
    if (in_event_ ? of_event() : depth_ == 1) key_ = std::move(name);
    if (in_args_ && depth_ == event_depth_ + 1) inner_key_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override {
    enter();
    if (in_event_ && depth_ == event_depth_ + 1 && key_ == "args") in_args_ = true;
    if (depth_ != event_depth_) return true;
    event_ = {};
    in_event_ = true;
    ++seen_;
    return true;
  }
  bool end_object() override {
    if (of_event()) {
      take();
      in_event_ = false;
    }
    if (depth_-- == event_depth_ + 1) in_args_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    enter();
    if (depth_ == 1) event_depth_ = 2;
    if (depth_ == 2 && event_depth_ == kNowhere && key_ == "traceEvents") event_depth_ = 3;
    return true;
  }
  bool end_array() override {
    if (--depth_ + 2 == event_depth_) event_depth_ = kNowhere;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) override {
    throw no_json(file_, text_, byte, error.what());
  }

 private:
  static constexpr int kNowhere = -10;

  void enter() {
    if (++depth_ <= kDeepest) return;
    throw InputError(file_, "event " + std::to_string(seen_) +
                                ": found more than 64 lists and objects inside each other, expected fewer");
  }
  bool of_args() const { return in_args_ && depth_ == event_depth_ + 1; }
  bool of_event() const { return in_event_ && depth_ == event_depth_; }
  bool number(double value) {
    if (!of_event()) return true;
    if (key_ == "ts") event_.start = value;
    if (key_ == "dur") event_.duration = value;
    return true;
  }
  void take() {
    if (event_.phase != "X") return;
    const std::string category = lower_case(event_.category);
    if (is_launch(category)) {
      if (event_.correlation && event_.start && std::isfinite(*event_.start))
        launches.emplace(*event_.correlation, *event_.start);
      return;
    }
    const auto is_time = [](const std::optional<double>& value) { return value && std::isfinite(*value); };
    if (const std::optional<HostMark::Kind> mark = mark_of(event_, category)) {
      if (is_time(event_.start) && is_time(event_.duration) && *event_.duration >= 0 && *event_.duration <= kLongest)
        marks.push_back({*mark, event_.name, *event_.start, *event_.duration});
      return;
    }
    const std::optional<KernelClass> kind = kind_of(event_, category);
    if (!kind) return;
    const auto number = [&](const char* key, const std::optional<double>& value) {
      if (value && std::isfinite(*value)) return *value;
      throw InputError(file_, "event " + in_quotes(event_.name) + ": " + key + ": expected microseconds");
    };
    const double start = number("ts", event_.start), duration = number("dur", event_.duration);
    if (duration < 0 || duration > kLongest) {
      std::ostringstream found;
      found << duration;
      throw InputError(file_, "event " + in_quotes(event_.name) + ": dur: found " + found.str() +
                                  ", expected microseconds, from 0 to 4e12 (46 days)");
    }
    GpuEvent& event = events.emplace_back();
    event = {names.number_of(event_.name), *kind, event_.device, start, duration, event_.stream, event_.ranks,
             event_.correlation,           {}};
    if (*kind == KernelClass::collective) {
      event.operation = operation_of(event_.collective);
      if (!event.operation) event.operation = operation_of(event_.name);
    }
  }

  std::string_view text_;
  const std::string& file_;
  int depth_ = 0, event_depth_ = kNowhere;  ///< open lists and objects; inside an event
  bool in_event_ = false, in_args_ = false;
  std::uint64_t seen_ = 0;       ///< events
  std::string key_, inner_key_;  ///< the last one of the event (outside of events: of the trace), and of its args
  TraceEvent event_;
};

}  // namespace

KernelLog parse_kineto(std::string_view text, const std::string& file) {
  TraceReader reader(text, file);
  json::sax_parse(text, &reader);
  if (reader.events.empty()) {
    throw InputError(file,
                     "found no event of category kernel, expected a trace of the PyTorch profiler with CUDA "
                     "activities");
  }
  double first = std::numeric_limits<double>::infinity();
  for (const GpuEvent& event : reader.events) first = std::min(first, event.start);
  KernelLog log{std::move(reader.names), {}, {}};
  for (const GpuEvent& event : reader.events) {
    if (event.start - first > kLongest)
      throw InputError(file, "event " + in_quotes(log.names[event.name]) + ": more than 46 days after the first");
    log.spans.push_back({event.name,
                         event.kind,
                         event.device,
                         from_seconds((event.start - first) * 1e-6),
                         from_seconds(event.duration * 1e-6),
                         event.stream,
                         {},
                         event.operation,
                         event.ranks});
    if (!event.correlation) continue;
    const auto launch = reader.launches.find(*event.correlation);
    if (launch != reader.launches.end() && std::abs(launch->second - first) <= kLongest)
      log.spans.back().launched = from_seconds((launch->second - first) * 1e-6);
  }
  for (MarkEvent& mark : reader.marks)
    if (std::abs(mark.start - first) <= kLongest)
      log.marks.push_back({mark.kind, std::move(mark.name), from_seconds((mark.start - first) * 1e-6),
                           from_seconds(mark.duration * 1e-6)});
  return log;
}

}  // namespace stepcast::calibrate
