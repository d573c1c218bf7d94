#include "calibrate/fit/kernel_fits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "calibrate/fit/gemm_fit.h"
#include "models/cost/elementwise.h"
#include "models/cost/kernel_time.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using schedules::Gpu;
using schedules::Precision;

constexpr std::array kPrecisions{std::pair{Precision::fp32, "fp32"}, std::pair{Precision::tf32, "tf32"},
                                 std::pair{Precision::fp16, "fp16"}, std::pair{Precision::bf16, "bf16"}};

const char* name_of(Precision precision) {
  return std::ranges::find(kPrecisions, precision, [](const auto& p) { return p.first; })->second;
}

/// All stacks of configs/software/ multiply by cuBLASLt or by cuBLAS, whose kernels are the same.
constexpr const char* kMultiplies = "cublaslt";

bool is_multiply(const KernelRow& row) { return row.suite == "gemm" || row.suite == "batched_gemm"; }

std::optional<Precision> precision_named(const std::string& word) {
  const auto at = std::ranges::find_if(kPrecisions, [&](const auto& p) { return word == p.second; });
  if (at == kPrecisions.end()) return {};
  return at->first;
}

/// Rows of a suite that a fit may use: clocks not throttled and, of each kernel where there are any, from a cold cache.
/// What is left out is noted.
template <class Wanted>
std::vector<const KernelRow*> rows_of(const Bundle& bundle, Wanted wanted, FittedModel& model) {
  std::vector<const KernelRow*> rows;
  std::size_t throttled = 0, warm = 0;
  const bool any_cold = std::ranges::any_of(bundle.kernels, [&](const KernelRow& r) { return wanted(r) && r.cold; });
  for (const KernelRow& row : bundle.kernels) {
    if (!wanted(row)) continue;
    if (row.throttled) {
      ++throttled;
    } else if (any_cold && !row.cold) {
      ++warm;
    } else {
      rows.push_back(&row);
    }
  }
  const auto note = [&](std::size_t count, const char* why) {
    if (count > 0) model.notes.push_back(std::to_string(count) + " rows left out: " + why);
  };
  note(throttled, "measured while the clocks were throttled");
  note(warm, "measured with a warm cache");
  return rows;
}

std::vector<double> measured(const std::vector<const KernelRow*>& rows) {
  std::vector<double> seconds;
  for (const KernelRow* row : rows) seconds.push_back(to_seconds(row->time.median));
  return seconds;
}

std::vector<double> overheads(const std::vector<const KernelRow*>& rows, const Launches& launches) {
  std::vector<double> seconds;
  for (const KernelRow* row : rows) seconds.push_back(to_seconds(launches.overhead(*row)));
  return seconds;
}

/// A number for each row, the same where `key` is.
template <class Key>
std::vector<std::size_t> groups(const std::vector<const KernelRow*>& rows, Key key) {
  std::map<decltype(key(*rows.front())), std::size_t> numbers;
  std::vector<std::size_t> out;
  for (const KernelRow* row : rows) out.push_back(numbers.try_emplace(key(*row), numbers.size()).first->second);
  return out;
}

void show(const std::vector<const KernelRow*>& rows, FittedModel& model) {
  for (const KernelRow* row : rows) {
    std::string what = row->by == "-" ? row->kernel : row->by + " " + row->kernel;
    for (const std::string& word : {row->dtype, row->layout})
      if (word != "-") what += " " + word;
    if (row->batch > 1) what += " " + std::to_string(row->batch) + " of";
    const char* between = " ";
    for (const std::int64_t size : {row->m, row->n, row->k}) {
      if (size > 0) what += std::exchange(between, " x ") + std::to_string(size);
    }
    if (row->m == 0) what += " " + std::to_string(row->bytes.value) + " B";
    model.rows.push_back({row->place, what, to_seconds(row->time.median)});
  }
}

/// Whether a profile can say whose these kernels are.
bool is_maker(const std::string& name) {
  return name != "unsaid" && name != "other" &&
         std::ranges::find(schedules::kKernelMakers, name) != schedules::kKernelMakers.end();
}

/// Where a profile keeps what is measured of a maker's kernels.
std::string kernels_block(const std::string& maker) { return "kernels." + maker + "."; }

/// A median as it was measured. A sample median's error is 1.2533 standard deviations over the root of the count; 10 to
/// 90 % of a normal distribution are 2.5631 of them.
Estimate as_measured(const std::string& name, const Spread& t) {
  const double half =
      1.96 * 1.2533 * (to_seconds(t.p90) - to_seconds(t.p10)) / 2.5631 / std::sqrt(static_cast<double>(t.repeats));
  const double median = to_seconds(t.median);
  return {name, median, std::max(median - half, 0.0), median + half, true, ""};
}

schedules::GemmShape shape_of(const KernelRow& row, Precision precision) {
  const std::int64_t element = schedules::element_bytes(precision);
  return {row.m, row.n, row.k, row.batch, static_cast<double>(element), element};
}

}  // namespace

Time Launches::overhead(const KernelRow& row) const {
  const bool events = row.cold || !graph_timer;
  const std::optional<Time>& found = events ? event_pair : graph;
  if (!found) {
    throw InputError("kernels.csv", std::string("found no row launch,") + (events ? "event_pair" : "graph") +
                                        ": without it no " + (events ? "" : "warm ") + "kernel's own time is known");
  }
  return *found;
}

Launches measured_launches(const Bundle& bundle) {
  const auto find = [&](std::string_view kernel) {
    return std::ranges::find_if(bundle.kernels,
                                [&](const KernelRow& r) { return r.suite == "launch" && r.kernel == kernel; });
  };
  const auto graph = find("graph"), pair = find("event_pair");
  Launches launches{{}, {}, bundle.machine.graph_timer, {"launch", {}, {}, {}}};
  if (pair != bundle.kernels.end()) launches.event_pair = pair->time.median;
  if (graph != bundle.kernels.end()) launches.graph = graph->time.median;
  Estimate gap{"software.kernel_gap", 0, 0, 0, false, "no row launch,graph was measured"};
  if (graph != bundle.kernels.end()) gap = as_measured(gap.name, graph->time);
  launches.model.constants.push_back({gap.name, ConstantUnit::seconds, gap, false});
  return launches;
}

FittedModel fit_memory(const Bundle& bundle, const Gpu& gpu, const Launches& launches) {
  constexpr double kLongestRamp = 10e-6;
  FittedModel model{"memory", {}, {}, {}};
  const std::vector<const KernelRow*> rows = rows_of(
      bundle, [](const KernelRow& r) { return r.suite == "stream" || r.suite == "elementwise"; }, model);
  std::vector<Free> constants{{"gpu.memory.efficiency", 0.05, 1, gpu.memory_efficiency, false},
                              {"gpu.memory.ramp", 0, kLongestRamp, to_seconds(gpu.memory_ramp), false}};
  std::vector<double> start{0.8, 1e-6};
  std::map<std::pair<std::string, std::string>, std::size_t> share;  // of a maker's kernel: which constant
  for (const KernelRow* row : rows) {
    if (row->suite == "stream" || share.contains({row->by, row->kernel})) continue;
    share[{row->by, row->kernel}] = constants.size();
    constants.push_back({kernels_block(row->by) + "elementwise." + row->kernel, 0.01, 2, 1, false});
    start.push_back(0.9);
  }
  for (const Free& c : constants) {
    model.constants.push_back(
        {c.name, c.name == "gpu.memory.ramp" ? ConstantUnit::seconds : ConstantUnit::number, {}, false});
  }
  show(rows, model);
  const double peak = gpu.memory_bandwidth.value;
  const std::vector<double> fixed = overheads(rows, launches);
  take(fit_robust(
           measured(rows), groups(rows, [](const KernelRow& r) { return std::tuple(r.by, r.kernel, r.bytes.value); }),
           constants,
           [&](const std::vector<double>& c, std::size_t i) {
             const KernelRow& row = *rows[i];
             const double of_kernel = row.suite == "stream" ? 1 : c[share.at({row.by, row.kernel})];
             return fixed[i] + c[1] + static_cast<double>(row.bytes.value) / (peak * c[0] * of_kernel);
           },
           std::vector<std::vector<double>>{start}),
       model);
  // Kernels that no operator of a model is, or of makers that no stack names, are measured for people.
  std::erase_if(model.constants, [](const ProfileConstant& c) {
    constexpr std::string_view kBlock = "kernels.";
    if (!c.key.starts_with(kBlock)) return false;
    const std::string maker = c.key.substr(kBlock.size(), c.key.find('.', kBlock.size()) - kBlock.size());
    return !is_maker(maker) || !schedules::is_measured_kernel(c.key.substr(c.key.rfind('.') + 1));
  });
  return model;
}

FittedModel fit_multiplies(const Bundle& bundle, const Gpu& gpu, Precision precision, const Launches& launches) {
  const std::string name = name_of(precision);
  const std::string block = precision == Precision::fp32 ? "gpu.gemm_simt." : "gpu.gemm_" + name + ".";
  FittedModel model{"gemm " + name, {}, {}, {}};
  const std::vector<const KernelRow*> rows = rows_of(
      bundle,
      [&](const KernelRow& r) {
        return is_multiply(r) && r.by == kMultiplies && precision_named(r.dtype) == precision;
      },
      model);
  if (rows.empty()) return model;
  if (!gpu.peak.contains(precision)) {
    model.notes.push_back(std::to_string(rows.size()) + " rows left out: " + gpu.name + " states no peak rate for " +
                          name);
    return model;
  }
  const std::vector<Free> constants = gemm_constants(schedules::gemm_model(gpu, precision));
  for (const Free& c : constants) model.constants.push_back({block + c.name, ConstantUnit::number, {}, true});
  show(rows, model);
  const schedules::GemmMachine machine{gpu.sms, schedules::peak(gpu, precision), gpu.memory_bandwidth,
                                       gpu.memory_efficiency};
  const std::vector<double> fixed = overheads(rows, launches);
  take(fit_robust(
           measured(rows), groups(rows, [](const KernelRow& r) { return std::tuple(r.batch, r.m, r.n, r.k); }),
           constants,
           [&](const std::vector<double>& c, std::size_t i) {
             return to_seconds(gemm_time(shape_of(*rows[i], precision), gemm_model_of(c), machine)) + fixed[i];
           },
           gemm_starts()),
       model);
  if (std::ranges::none_of(model.constants, [](const ProfileConstant& c) { return c.estimate.identified; })) {
    for (ProfileConstant& c : model.constants) c.always = false;
  }
  return model;
}

FittedModel other_multiplies(const Bundle& bundle) {
  std::map<std::string, std::size_t> rows, others;
  for (const KernelRow& row : bundle.kernels) {
    if (!is_multiply(row)) continue;
    if (row.by != kMultiplies)
      ++others[row.by];
    else if (!precision_named(row.dtype))
      ++rows[row.dtype];
  }
  FittedModel model{"gemm of other types", {}, {}, {}};
  for (const auto& [by, count] : others)
    model.notes.push_back(std::to_string(count) + " rows left out: multiplies by " + by + ", and stacks run " +
                          kMultiplies + "'s");
  for (const auto& [dtype, count] : rows)
    model.notes.push_back(std::to_string(count) + " rows left out: the cost model has no " + dtype);
  return model;
}

std::vector<std::string> makers_of_attention(const Bundle& bundle) {
  std::vector<std::string> makers{"own"};
  for (const KernelRow& row : bundle.kernels)
    if (row.suite == "attention" && is_maker(row.by) && std::ranges::find(makers, row.by) == makers.end())
      makers.push_back(row.by);
  return makers;
}

FittedModel fit_attention(const Bundle& bundle, const Gpu& gpu, const std::string& maker, bool backward,
                          const Launches& launches) {
  const std::string kernel = backward ? "backward" : "forward";
  FittedModel model{maker + " attention " + kernel, {}, {}, {}};
  const auto usable = [&](const KernelRow& r) {
    const std::optional<Precision> precision = precision_named(r.dtype);
    return precision && gpu.peak.contains(*precision);
  };
  std::size_t full = 0, others = 0;
  const std::vector<const KernelRow*> rows = rows_of(
      bundle,
      [&](const KernelRow& r) {
        return r.suite == "attention" && r.by == maker && r.kernel == kernel && r.layout == "causal" && usable(r);
      },
      model);
  for (const KernelRow& r : bundle.kernels) {
    if (r.suite != "attention" || r.by != maker || r.kernel != kernel) continue;
    if (r.layout != "causal")
      ++full;
    else if (!usable(r))
      ++others;
  }
  if (full > 0) model.notes.push_back(std::to_string(full) + " rows left out: not causal");
  if (others > 0)
    model.notes.push_back(std::to_string(others) + " rows left out: " + gpu.name +
                          " states no peak rate for their type");
  model.constants.push_back({kernels_block(maker) + "attention." + kernel, ConstantUnit::number, {}, false});
  show(rows, model);

  Gpu ideal = gpu;  // at the peak rate, alone; a share of it takes 1 / share as long
  ideal.attention_forward = ideal.attention_backward = ideal.step_share = 1;
  ideal.low_precision_step_share.reset();
  ideal.attention_flash_2 = ideal.attention_cudnn = 1;
  schedules::Software stack;  // as this maker's kernels pad the width of heads
  stack.flash_2 = maker == "flash_attention_2";
  const int kernels = backward ? 2 : 1;
  std::vector<double> fixed = overheads(rows, launches), at_peak;
  for (double& each : fixed) each += (kernels - 1) * to_seconds(launches.graph.value_or(Time{}));
  for (const KernelRow* row : rows) {
    const double square = static_cast<double>(row->batch * row->m) * static_cast<double>(row->n * row->k);
    schedules::FusedAttention operation{schedules::OperatorKind::fused_attention,
                                        {(backward ? 8 : 4) * square},
                                        static_cast<double>(row->batch * row->m),
                                        backward,
                                        kernels};
    operation.key_width = operation.value_width = row->k;
    at_peak.push_back(to_seconds(schedules::KernelCost{ideal, stack, *precision_named(row->dtype)}.time(operation)));
  }
  const std::vector<Free> constants{
      {model.constants.front().key, 0.01, 1, backward ? gpu.attention_backward : gpu.attention_forward, false}};
  take(fit_robust(measured(rows), groups(rows, [](const KernelRow& r) { return std::tuple(r.batch, r.m, r.n, r.k); }),
                  constants, [&](const std::vector<double>& c, std::size_t i) { return fixed[i] + at_peak[i] / c[0]; }),
       model);
  return model;
}

FittedModel fit_sustained(const Bundle& bundle) {
  FittedModel model{"sustained", {}, {}, {}};
  Estimate share{"gpu.step_share", 1, 1, 1, false, "no work was measured for tens of seconds"};
  for (const SustainedRow& row : bundle.sustained) {
    const double burst = to_seconds(row.burst), held = to_seconds(row.time.median);
    model.notes.push_back(row.work + " " + row.dtype + " held for " + std::to_string(std::lround(row.seconds)) +
                          " s: " + std::to_string(std::lround(1000 * burst / held)) +
                          " thousandths of its burst rate, held by the power limit " +
                          std::to_string(std::lround(100 * row.capped)) + " % of the time" +
                          (row.throttled ? ", throttled" : ""));
    if (row.work != "layer" || share.identified) continue;
    if (row.throttled) {
      share.why = "measured while the clocks were throttled";
      continue;
    }
    const auto of = [&](Time round) { return std::min(burst / to_seconds(round), 1.0); };
    share = {share.name, of(row.time.median), of(row.time.p90), of(row.time.p10), true, ""};
  }
  model.constants.push_back({share.name, ConstantUnit::number, share, false});
  return model;
}

FittedModel fit_host(const Bundle& bundle) {
  constexpr std::array kKeys{std::pair{"operator", "host_per_kernel"}, std::pair{"collective", "host_per_collective"},
                             std::pair{"checkpoint", "host_per_checkpoint"}};
  FittedModel model{"host", {}, {}, {}};
  for (const char* const by : {"pytorch", "inductor"}) {
    for (const auto& [what, key] : kKeys) {
      const HostRow* most = nullptr;  // of the most at once: what begins and ends it counts least
      for (const HostRow& row : bundle.host)
        if (row.what == what && row.by == by && (most == nullptr || row.count > most->count)) most = &row;
      if (most == nullptr) continue;
      const std::string name = kernels_block(by) + key;
      model.constants.push_back({name, ConstantUnit::seconds, as_measured(name, most->time), false});
    }
  }
  return model;
}

}  // namespace stepcast::calibrate
