#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/report/calibration.h"
#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

using calibrate::ConstantUnit;
using calibrate::Estimate;
using calibrate::FittedModel;
using calibrate::ProfileConstant;

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : language::visible(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Keys with dots as nested mappings; keys that begin alike must follow each other.
class Nested {
 public:
  void add(const std::string& key, const std::string& value, const std::string& comment = "") {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= key.size();) {
      const std::size_t end = std::min(key.find('.', at), key.size());
      parts.push_back(key.substr(at, end - at));
      at = end + 1;
    }
    std::size_t same = 0;
    while (same < open_.size() && same + 1 < parts.size() && open_[same] == parts[same]) ++same;
    open_.resize(same);
    for (; same + 1 < parts.size(); ++same) {
      text_ += std::string(2 * same, ' ') + parts[same] + ":\n";
      open_.push_back(parts[same]);
    }
    text_ += std::string(2 * same, ' ') + parts[same] + ": " + value + (comment.empty() ? "" : "  # " + comment) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> open_;
};

std::string interval(const ProfileConstant& c) {
  if (!c.estimate.identified) return "not told: " + c.estimate.why;
  return "95 %: " + constant_text(c.unit, c.estimate.low) + " to " + constant_text(c.unit, c.estimate.high);
}

/// `kernels:`, an entry for each maker, in the order in which the models name them; "" where none is told. What is not
/// told goes to `untold`.
std::string kernels_text(const Calibration& calibration, std::string& untold) {
  constexpr std::string_view kBlock = "kernels.";
  std::vector<std::pair<std::string, Nested>> makers;
  std::vector<const ProfileConstant*> constants;
  for (const FittedModel& model : calibration.models)
    for (const ProfileConstant& c : model.constants)
      if (c.key.starts_with(kBlock)) constants.push_back(&c);
  const auto rest_of = [&](const ProfileConstant& c) { return c.key.substr(c.key.find('.', kBlock.size()) + 1); };
  // Keys that begin alike together: elementwise.* come from one model, attention.* from two.
  std::ranges::stable_sort(constants, {},
                           [&](const ProfileConstant* c) { return rest_of(*c).substr(0, rest_of(*c).find('.')); });
  for (const ProfileConstant* c : constants) {
    if (!c->estimate.identified) {
      untold += fmt::format("# {}: {}\n", c->key, interval(*c));
      continue;
    }
    const std::string maker = c->key.substr(kBlock.size(), c->key.find('.', kBlock.size()) - kBlock.size());
    auto at = std::ranges::find(makers, maker, [](const auto& each) { return each.first; });
    if (at == makers.end()) at = makers.insert(at, {maker, Nested{}});
    at->second.add(rest_of(*c), constant_text(c->unit, c->estimate.value), interval(*c));
  }
  std::string out = makers.empty() ? "" : "kernels:\n";
  for (const auto& [maker, keys] : makers) {
    out += "  - by: " + maker + "\n";
    const std::string& text = keys.text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      out += "    " + text.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

}  // namespace

std::string constant_text(ConstantUnit unit, double value) {
  switch (unit) {
    case ConstantUnit::seconds:
      return fmt::format("{:.4f} us", value * 1e6);
    case ConstantUnit::bytes_per_second:
      return fmt::format("{:.4f} GB/s", value * 1e-9);
    case ConstantUnit::bytes:
      return fmt::format("{:.0f} B", value);
    case ConstantUnit::whole:
      return fmt::format("{:.0f}", value);
    case ConstantUnit::flag:
      return value != 0 ? "true" : "false";
    case ConstantUnit::number:
      break;
  }
  return fmt::format("{:.4f}", value);
}

std::string profile_yaml(const Calibration& calibration) {
  const calibrate::MeasuredMachine& m = calibration.machine;
  std::string out = fmt::format("name: {}\n", in_quotes(calibration.gpu_file + ", run " + calibration.run));
  Nested keys;
  keys.add("measured.run", in_quotes(calibration.run));
  keys.add("measured.gpu_name", in_quotes(m.gpu_name));
  keys.add("measured.gpu_id", in_quotes(m.gpu_id));
  keys.add("measured.gpus", std::to_string(m.gpus));
  keys.add("measured.driver", in_quotes(m.driver));
  keys.add("measured.cuda", in_quotes(m.cuda));
  keys.add("measured.cublaslt", in_quotes(m.cublaslt));
  keys.add("measured.nccl", in_quotes(m.nccl));
  keys.add("measured.clock_sm_mhz", in_quotes(m.clock_sm_mhz));
  keys.add("measured.clock_memory_mhz", in_quotes(m.clock_memory_mhz));
  keys.add("measured.power_limit_w", in_quotes(m.power_limit_w));
  keys.add("measured.ecc", in_quotes(m.ecc));
  keys.add("measured.host_cpu", in_quotes(m.host_cpu));
  keys.add("measured.host_cores", in_quotes(m.host_cores));
  keys.add("measured.date", in_quotes(m.date));
  keys.add("measured.command", in_quotes(m.command));
  keys.add("gpu.base", calibration.gpu_file);
  std::string untold;
  for (const char* block : {"gpu.", "software.", "copies.", "interference."}) {
    for (const FittedModel& model : calibration.models) {
      for (const ProfileConstant& c : model.constants) {
        if (!c.key.starts_with(block)) continue;
        if (c.estimate.identified || c.always) {
          keys.add(c.key, constant_text(c.unit, c.estimate.value), interval(c));
        } else {
          untold += fmt::format("# {}: {}\n", c.key, interval(c));
        }
      }
    }
  }
  out += keys.text();
  out += kernels_text(calibration, untold);
  out += fmt::format("source: >-\n  Measured by calibrate/measure, fitted by `stepcast calibrate --bundle`; run {}.\n",
                     language::visible(calibration.run));
  out += untold;
  for (const FittedModel& model : calibration.models) {
    if (!model.rows.empty()) {
      out += fmt::format("# {}: {} rows, median error {:.1f} %", model.name, model.rows.size(),
                         100 * model.median_error());
      if (const auto held_out = model.held_out_median_error())
        out += fmt::format(", held out {:.1f} %", 100 * *held_out);
      out += "\n";
    }
    for (const std::string& note : model.notes) out += fmt::format("# {}: {}\n", model.name, language::visible(note));
  }
  return out;
}

}  // namespace stepcast::app
