#include "calibrate/logs/nsys_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "calibrate/logs/gpu_activity.h"
#include "calibrate/logs/no_json.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using nlohmann::json;

/// A kernel whose name is not known before all texts are.
struct NamedLater {
  std::size_t activity = 0;
  std::int64_t text = 0;
};

/// Processes and what they called for have numbers of their own each: together they are one.
std::int64_t launch_key(std::int64_t global_id, std::int64_t correlation) {
  constexpr int kThreadBits = 24;
  const auto process = (static_cast<std::uint64_t>(global_id) >> kThreadBits) & 0xffffff;
  return static_cast<std::int64_t>((process << 32) | (static_cast<std::uint64_t>(correlation) & 0xffffffff));
}

class NsysLines {
 public:
  NsysLines(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  KernelLog read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line_;
      one_line(begin, end);
      begin = end + 1;
    }
    if (activities_.empty())
      throw InputError(
          file_,
          "found no CudaEvent of a kernel, expected an export of Nsight Systems with CUDA activities (nsys "
          "export --type json)");
    for (const NamedLater& kernel : kernels_) {
      GpuActivity& activity = activities_[kernel.activity];
      const auto known = texts_.find(kernel.text);
      if (known == texts_.end() || known->second.empty()) continue;
      activity.name = log_.names.number_of(known->second);
      activity.kind = class_of(known->second);
    }
    add_activities(activities_, launches_, file_, log_);
    return std::move(log_);
  }

 private:
  std::string place() const { return file_ + ":" + std::to_string(line_); }

  void one_line(std::size_t begin, std::size_t end) {
    const std::string_view line = text_.substr(begin, end - begin);
    const auto has = [&](std::string_view word) { return line.find(word) != std::string_view::npos; };
    if (!has("\"CudaEvent\"") && !has("\"TraceProcessEvent\"") && !has("\"data\"") && !has("\"String\"")) return;
    json message;
    try {
      message = json::parse(line);
    } catch (const json::parse_error& error) {
      throw no_json(file_, text_, begin + error.byte, error.what());
    } catch (const json::out_of_range&) {
      throw InputError(place(), "found a number that is too large, expected one of at most 1.8e308");
    }
    if (!message.is_object()) return;
    if (const json* const cuda = member(message, "CudaEvent")) {
      one_activity(*cuda);
    } else if (const json* const call = member(message, "TraceProcessEvent")) {
      if (member(*call, "correlationId") != nullptr && member(*call, "globalTid") != nullptr)
        launches_.emplace(launch_key(whole(*call, "globalTid"), whole(*call, "correlationId")),
                          whole(*call, "startNs", 0));
    } else if (const json* const texts = member(message, "data"); texts != nullptr && texts->is_array()) {
      for (std::size_t i = 0; i < texts->size(); ++i)
        if ((*texts)[i].is_string()) texts_.emplace(static_cast<std::int64_t>(i), (*texts)[i].get<std::string>());
    } else if (const json* const type = member(message, "type"); type != nullptr && *type == "String") {
      const json* const value = member(message, "value");
      if (value != nullptr && value->is_string()) texts_.emplace(whole(message, "id"), value->get<std::string>());
    }
  }

  static const json* member(const json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto at = object.find(key);
    return at == object.end() ? nullptr : &*at;
  }

  /// A whole number, which may stand in quotes, as protobuf writes those of 64 bits. What is not there is 0 to
  /// protobuf.
  std::int64_t whole(const json& object, const char* key, std::optional<std::int64_t> otherwise = {}) const {
    const json* const value = member(object, key);
    if (value == nullptr && otherwise) return *otherwise;
    if (value != nullptr && value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX)
      throw InputError(place(), std::string(key) + ": found a number above 2^63, expected one below");
    if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
    if (value != nullptr && value->is_string()) {
      const auto& word = value->get_ref<const std::string&>();
      std::int64_t number = 0;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error == std::errc{} && rest == word.data() + word.size()) return number;
    }
    throw InputError(place(),
                     std::string(key) + ": found " +
                         (value == nullptr ? "nothing" : value->dump(-1, ' ', false, json::error_handler_t::replace)) +
                         ", expected a whole number");
  }

  void one_activity(const json& cuda) {
    const json *const kernel = member(cuda, "kernel"), *const copy = member(cuda, "memcpy"),
                      *const fill = member(cuda, "memset");
    if (kernel == nullptr && copy == nullptr && fill == nullptr) return;  // waits and records of events
    GpuActivity activity;
    activity.start = whole(cuda, "startNs");
    activity.end = whole(cuda, "endNs");
    activity.device = whole(cuda, "deviceId", 0);
    activity.stream = whole(cuda, "streamId", 0);
    if (member(cuda, "correlationId") != nullptr && member(cuda, "globalPid") != nullptr)
      activity.launch = launch_key(whole(cuda, "globalPid"), whole(cuda, "correlationId"));
    if (kernel != nullptr) {
      const char* const name = member(*kernel, "demangledName") != nullptr ? "demangledName" : "shortName";
      kernels_.push_back({activities_.size(), whole(*kernel, name, -1)});
      activity.name = log_.names.number_of("unnamed");
      activity.kind = class_of("");
    } else {
      activity.name = log_.names.number_of(copy != nullptr ? copy_name(whole(*copy, "copyKind", 0)) : "memset");
      activity.kind = KernelClass::copy;
    }
    activities_.push_back(activity);
  }

  std::string_view text_;
  const std::string& file_;
  std::uint64_t line_ = 0;
  std::vector<GpuActivity> activities_;
  std::vector<NamedLater> kernels_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::unordered_map<std::int64_t, std::int64_t> launches_;
  KernelLog log_;
};

}  // namespace

bool is_nsys_json(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || text[at] != '{') return false;
  at = text.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = text.substr(at);
  return rest.starts_with("\"Type\"") || rest.starts_with("\"type\"") || rest.starts_with("\"data\"");
}

KernelLog parse_nsys_json(std::string_view text, const std::string& file) { return NsysLines(text, file).read(); }

}  // namespace stepcast::calibrate
