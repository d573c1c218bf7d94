#include "calibrate/fit/run_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "calibrate/fit/robust_fit.h"
#include "calibrate/in_parallel.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "schedules/results/reported_memory.h"
#include "schedules/results/time_parts.h"
#include "sim/input_error.h"
#include "sim/long_time.h"
#include "workload/machines.h"

namespace stepcast::calibrate {
namespace {

using collectives::ShareOverNodes;
using schedules::Scenario;
using schedules::Software;

/// Steps that were run twice differ by 15 % in the median (Ultra-Scale Playbook, 2025).
constexpr double kRepeats = 0.15;

/// And some were run on a slow day, or beside others: one in ten takes twice as long and more. None takes half.
constexpr Scatter kScatter{kRepeats, Beyond::logarithm_if_held_up};

/// Of memory. What nobody knows of makes it more, whatever its size: plans not run as their rows say, what an allocator
/// keeps. Nothing makes it less than a plan needs.
constexpr Scatter kMemoryScatter{0.05, Beyond::logarithm_if_held_up};

/// A stack's own host time, say, is often further off than what an interval of this ratio tells.
constexpr double kToldWithin = 10;

/// How far, as a standard deviation, a constant is from what a stack's file says where it says something: of the shares
/// that stacks' files of one framework have, and of the host times that its operators take on one server or another.
constexpr double kShareWidth = 0.06, kHostWidth = 0.4;
/// And, of its logarithm, what runs get of a network from what a benchmark of it got: ends of the bands that the
/// Ultra-Scale Playbook (2025) draws around it are half to three times the mean.
constexpr double kNetworkWidth = 0.6;

/// More nodes than a cluster has, or its tensor ranks are on: sends that wait from so many on wait nowhere.
constexpr std::uint32_t kNoNodes = 1 << 20;

/// A constant of a stack: its key, and where it lies between what bounds.
struct StackConstant {
  std::string_view key;
  ConstantUnit unit;
  double low, high;
  bool logarithmic;
  double width;  ///< as in Free, where the stack's file says something; 0: whatever it says is not known
  std::vector<double> tried;
  double (*get)(const Software&);
  void (*set)(Software&, double);
};

template <Time Software::*member>
StackConstant host_time(std::string_view key, double low, double high, double width, std::vector<double> tried) {
  return {key,
          ConstantUnit::seconds,
          low,
          high,
          true,
          width,
          std::move(tried),
          [](const Software& s) { return to_seconds(s.*member); },
          [](Software& s, double value) { s.*member = from_seconds(value); }};
}

/// Of a step's time. Bounds: shares below which, and times beyond which, something else must be wrong.
const std::array<StackConstant, 5>& of_time() {
  static const std::array<StackConstant, 5> all{
      StackConstant{"compute_share",
                    ConstantUnit::number,
                    0.3,
                    1.0001,
                    false,
                    kShareWidth,
                    {0.7, 0.8, 0.9},
                    [](const Software& s) { return s.compute_share; },
                    [](Software& s, double value) { s.compute_share = std::min(value, 1.0); }},
      host_time<&Software::host_per_kernel>("host_per_kernel", 0.5e-6, 1e-3, kHostWidth, {20e-6, 80e-6}),
      host_time<&Software::host_per_peer>("host_per_peer", 1e-7, 5e-3, 0, {30e-6, 100e-6, 300e-6}),
      host_time<&Software::tensor_delay>("tensor_delay", 1e-7, 1e-1, 0, {30e-6, 100e-6, 300e-6, 1e-3}),
      host_time<&Software::send_delay>("send_delay", 1e-6, 10, 0, {1e-3, 1e-2, 0.1, 0.3, 1})};
  return all;
}

const std::array<StackConstant, 2>& of_memory() {
  static const std::array<StackConstant, 2> all{
      StackConstant{"activation_overhead",
                    ConstantUnit::number,
                    -1e-4,
                    3,
                    false,
                    0,
                    {},
                    [](const Software& s) { return s.activation_overhead; },
                    [](Software& s, double value) { s.activation_overhead = std::max(value, 0.0); }},
      StackConstant{"memory_reserve",
                    ConstantUnit::bytes,
                    -1,
                    32e9,
                    false,
                    0,
                    {},
                    [](const Software& s) { return static_cast<double>(s.memory_reserve.value); },
                    [](Software& s, double value) { s.memory_reserve = Bytes{std::llround(std::max(value, 0.0))}; }}};
  return all;
}

Free free_of(const StackConstant& c, const Software& software) {
  const double inside = c.logarithmic ? 1.001 : 1 + 1e-9, said = c.get(software);
  const double start = std::clamp(said, c.low > 0 ? c.low * inside : c.low + 1e-9, c.high / inside);
  Free free{std::string(c.key), c.low, c.high, start, c.logarithmic, kToldWithin, said > 0 ? c.width : 0, c.tried};
  free.added = c.logarithmic && c.width == 0 && said == 0;  // a delay that no public code has
  return free;
}

/// What a site's network gives groups of nodes, by two numbers: a straight line of the logarithms from two nodes to the
/// most that a run has; or what was measured, times one number.
struct NetworkModel {
  std::vector<ShareOverNodes> measured;
  collectives::Transport of_stack;
  std::uint32_t most_nodes = 0;

  /// What the stack's file says: all of it is a little less, so that it lies between the bounds.
  double start_over(std::uint32_t nodes) const {
    return std::min(collectives::network_share_over(of_stack, nodes), kAll);
  }
  static constexpr double kAll = 0.999;
  static double share(double value) { return value >= kAll ? 1 : value; }

  std::vector<Free> constants() const {
    constexpr double kLeast = 0.02, kMost = 1.001;
    if (most_nodes < 2) return {};
    if (!measured.empty()) return {{"network", 0.1, 10, 1, true, kToldWithin, kNetworkWidth, {0.5, 1, 2, 3}}};
    std::vector<Free> ends{{"network over 2 nodes", kLeast, kMost, start_over(2), true, kToldWithin}};
    if (most_nodes > 2)
      ends.push_back({"network over " + std::to_string(most_nodes) + " nodes", kLeast, kMost, start_over(most_nodes),
                      true, kToldWithin});
    return ends;
  }

  /// From how many nodes on sends wait: as many as pipelines of the runs have, the most at first; or none waits.
  /// `said`: what the stack's file says.
  static Free least_nodes(std::string key, const std::set<double>& nodes, std::optional<double> said) {
    Free free{std::move(key), 1, 2 * kNoNodes, said.value_or(nodes.empty() ? kNoNodes : *nodes.rbegin())};
    free.tried.assign(nodes.rbegin(), nodes.rend());
    free.tried.push_back(kNoNodes);
    free.whole = true;
    return free;
  }

  /// The least clusters whose sends wait, and the least nodes that tensor ranks are on whose stages' sends do.
  static std::array<Free, 2> least_waiting(const Software& stack, std::span<const Scenario> runs) {
    std::set<double> nodes, tensor_nodes;
    for (const Scenario& s : runs) {
      const std::uint32_t of_all = nodes_filled(s.cluster), of_tensor = nodes_filled(s.cluster, s.parallelism.tensor);
      if (s.parallelism.pipeline > 1 && of_all > 1) nodes.insert(of_all);
      if (s.parallelism.pipeline > 1 && of_tensor > 1) tensor_nodes.insert(of_tensor);
    }
    std::optional<double> said, said_of_tensor;
    if (stack.send_delay > Time{}) {
      said = stack.send_delay_nodes;
      said_of_tensor = stack.send_delay_tensor_nodes.value_or(kNoNodes);
    }
    return {least_nodes("send_delay_nodes", nodes, said),
            least_nodes("send_delay_tensor_nodes", tensor_nodes, said_of_tensor)};
  }

  std::vector<ShareOverNodes> shares(std::span<const double> values) const {
    if (values.empty()) return measured;  // no run is on two nodes
    std::vector<ShareOverNodes> out = measured;
    if (measured.empty()) {
      out = {{2, share(values.front())}};
      if (values.size() > 1) out.push_back({most_nodes, share(values.back())});
    } else {
      for (ShareOverNodes& each : out) each.share = std::min(each.share * values.front(), 1.0);
    }
    return out;
  }
};

/// Places among the constants of a step's time, behind of_time().
const std::size_t kLeastWaiting = of_time().size(), kLeastTensorNodes = kLeastWaiting + 1,
                  kNetwork = kLeastTensorNodes + 1;

/// Which sends wait.
void set_waiting(double nodes, double tensor_nodes, Software& software) {
  software.send_delay_nodes = static_cast<std::uint32_t>(nodes);
  software.send_delay_tensor_nodes = {};
  if (tensor_nodes < kNoNodes) software.send_delay_tensor_nodes = static_cast<std::uint32_t>(tensor_nodes);
}

/// A step, and what of it kernels take; of several stages the mean.
struct StepSeconds {
  double whole = 0, compute = 0;
};

StepSeconds seconds_of(const schedules::Forecast& forecast) {
  double compute = 0;
  for (const schedules::StageReport& stage : forecast.stages)
    for (const schedules::TimePart& part : schedules::kTimeParts)
      if (part.group == schedules::PartGroup::compute) compute += to_seconds(stage.time.*part.time);
  return {to_seconds(forecast.step), compute / static_cast<double>(forecast.stages.size())};
}

/// Something measured of a run's step: all of it, or one of the two parts that a trace tells of it.
struct StepSample {
  enum class Of : std::uint8_t { whole, compute, remainder };
  std::size_t run = 0;
  Of of = Of::whole;
  double step_s = 0, part_s = 0;  ///< measured

  /// The step if nothing but this part were forecast: so that the errors of a step's two parts, as shares of the step,
  /// add up to the step's.
  double predicted(const StepSeconds& forecast) const {
    constexpr double kLeast = 1e-6;  // the logarithm of an error is told of what is above zero
    if (of == Of::whole) return forecast.whole;
    const double of_part = of == Of::compute ? forecast.compute : forecast.whole - forecast.compute;
    return std::max(step_s + of_part - part_s, kLeast * step_s);
  }
};

/// Sets all but those that the runs' profile has.
template <std::size_t count>
void set_constants(const std::array<StackConstant, count>& of, const std::vector<double>& values,
                   std::span<const std::string> profiled, Software& software) {
  for (std::size_t c = 0; c < count; ++c)
    if (std::ranges::find(profiled, of[c].key) == profiled.end()) of[c].set(software, values[c]);
}

/// Forecasts of all runs under the constants asked for last.
class StepTimes {
 public:
  StepTimes(std::vector<Scenario> runs, NetworkModel network, std::span<const std::string> profiled)
      : runs_(std::move(runs)), network_(std::move(network)), profiled_(profiled), seconds_(runs_.size()) {}

  const StepSeconds& at(const std::vector<double>& constants, std::size_t run) {
    if (constants != constants_) {
      constants_ = constants;
      in_parallel(runs_.size(), [&](std::size_t i) { seconds_[i] = forecast(i); });
    }
    return seconds_[run];
  }

 private:
  StepSeconds forecast(std::size_t i) {
    Scenario s = runs_[i];
    set_constants(of_time(), constants_, profiled_, s.software);
    set_waiting(constants_[kLeastWaiting], constants_[kLeastTensorNodes], s.software);
    if (constants_.size() > kNetwork)
      s.software.transport.network_shares = network_.shares(std::span(constants_).subspan(kNetwork));
    return seconds_of(schedules::forecast(s, machines_, {.advise = false, .compare = false}));
  }

  const std::vector<Scenario> runs_;
  const NetworkModel network_;
  const std::span<const std::string> profiled_;
  workload::Machines machines_;  ///< most constants change nothing of a machine, which keeps what it timed
  std::vector<double> constants_;
  std::vector<StepSeconds> seconds_;
};

double bytes_of(const Scenario& s, workload::Machines& machines) {
  return static_cast<double>(schedules::reported_memory(s, schedules::plan(s, machines).memory).value);
}

std::vector<std::size_t> each_alone(std::size_t count) {
  std::vector<std::size_t> groups(count);
  for (std::size_t i = 0; i < count; ++i) groups[i] = i;
  return groups;
}

/// An estimate as a stack holds it. A fit's open bounds lie a little beyond what a stack may say.
Estimate held(Estimate estimate, const std::function<double(double)>& held) {
  for (double* each : {&estimate.value, &estimate.low, &estimate.high}) *each = held(*each);
  return estimate;
}

template <std::size_t count>
void put_constants(const std::array<StackConstant, count>& of, const RobustFit& fit,
                   std::span<const std::string> profiled, RunFit& out) {
  for (std::size_t c = 0; c < count; ++c) {
    const auto by_stack = [&](double value) {
      Software stack;
      of[c].set(stack, value);
      return of[c].get(stack);
    };
    out.constants.push_back({std::string(of[c].key), of[c].unit, held(fit.constants[c], by_stack)});
    if (std::ranges::find(profiled, of[c].key) != profiled.end())
      out.constants.back().estimate.why = "the runs' profile has it";
  }
}

/// What is known of the runs' steps; `run` counts those that have a step time.
std::vector<StepSample> samples_of(std::span<const Scenario> runs,
                                   std::span<const std::optional<Time>> traced_compute) {
  using Of = StepSample::Of;
  std::vector<StepSample> samples;
  std::size_t timed = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].measured.step_time) continue;
    const double step = to_seconds(*runs[i].measured.step_time);
    if (!traced_compute.empty() && traced_compute[i]) {
      const double compute = to_seconds(*traced_compute[i]);
      samples.push_back({timed, Of::compute, step, compute});
      samples.push_back({timed, Of::remainder, step, step - compute});
    } else {
      samples.push_back({timed, Of::whole, step, step});
    }
    ++timed;
  }
  return samples;
}

/// The constants of a step's time, in the order of of_time(), kLeastWaiting, kLeastTensorNodes and the network's.
std::vector<Free> free_constants(const Software& stack, std::span<const Scenario> timed, const NetworkModel& network) {
  std::vector<Free> free;
  for (const StackConstant& c : of_time()) free.push_back(free_of(c, stack));
  for (Free& each : NetworkModel::least_waiting(stack, timed)) free.push_back(std::move(each));
  const std::vector<Free> of_network = network.constants();
  free.insert(free.end(), of_network.begin(), of_network.end());
  return free;
}

/// Whether all runs are of one plan, whose step is as long whatever of it is slow: no constants tell them apart.
bool one_plan(StepTimes& times, std::size_t runs, const std::vector<std::vector<double>>& places) {
  return std::ranges::all_of(places, [&](const std::vector<double>& constants) {
    const StepSeconds first = times.at(constants, 0);
    for (std::size_t run = 1; run < runs; ++run)
      if (times.at(constants, run).whole != first.whole) return false;
    return true;
  });
}

std::vector<double> starts_of(std::span<const Free> free) {
  std::vector<double> starts;
  for (const Free& each : free) starts.push_back(each.start);
  return starts;
}

/// A fit that leaves all constants as they are, because all runs are of one plan.
RobustFit of_one_plan(std::span<const Free> free, std::span<const double> measured, const PredictSample& predict) {
  RobustFit fit;
  for (const Free& each : free)
    fit.constants.push_back({each.name, each.start, each.start, each.start, false, "all runs are of one plan"});
  const std::vector<double> constants = starts_of(free);
  for (std::size_t i = 0; i < measured.size(); ++i) fit.errors.push_back(predict(constants, i) / measured[i] - 1);
  fit.held_out = fit.errors;
  return fit;
}

/// What was fitted of a step's time, as constants and as the network's shares.
void put_times(const Software& stack, const NetworkModel& network, std::span<const Free> free, const RobustFit& fit,
               std::span<const std::string> profiled, RunFit& out) {
  put_constants(of_time(), fit, profiled, out);
  if (out.constants.back().estimate.identified) {  // send_delay
    out.constants.push_back({free[kLeastWaiting].name, ConstantUnit::whole, fit.constants[kLeastWaiting]});
    if (fit.constants[kLeastTensorNodes].value < kNoNodes || stack.send_delay_tensor_nodes)
      out.constants.push_back({free[kLeastTensorNodes].name, ConstantUnit::whole, fit.constants[kLeastTensorNodes]});
  }
  for (std::size_t c = kNetwork; c < free.size(); ++c)
    out.constants.push_back({free[c].name, ConstantUnit::number, held(fit.constants[c], [&](double value) {
                               return network.measured.empty() ? NetworkModel::share(value) : value;
                             })});
  const std::vector<double> values = fit.values();
  const auto told = [](const Estimate& each) { return each.identified; };
  if (!network.measured.empty() ||
      std::any_of(fit.constants.begin() + static_cast<std::ptrdiff_t>(kNetwork), fit.constants.end(), told))
    out.network_shares = network.shares(std::span(values).subspan(kNetwork));
}

void fit_times(std::span<const Scenario> runs, const NetworkModel& network,
               std::span<const std::optional<Time>> traced_compute, std::span<const std::string> profiled,
               RunFit& out) {
  std::vector<FittedRun*> timed;
  std::vector<Scenario> scenarios;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].measured.step_time) continue;
    timed.push_back(&out.runs[i]);
    scenarios.push_back(runs[i]);
  }
  const std::vector<StepSample> samples = samples_of(runs, traced_compute);
  std::vector<double> measured;
  std::vector<std::size_t> groups;  // the samples of a run are held out together
  for (const StepSample& sample : samples) {
    measured.push_back(sample.step_s);
    groups.push_back(sample.run);
  }
  const std::vector<Free> free = free_constants(runs.front().software, scenarios, network);

  // From far off no run feels its host.
  std::vector<double> slow_host = starts_of(free);
  slow_host[1] = 80e-6;
  const std::vector<std::vector<double>> starts{slow_host};
  StepTimes times(std::move(scenarios), network, profiled);
  const PredictSample predict = [&](const std::vector<double>& constants, std::size_t i) {
    return samples[i].predicted(times.at(constants, samples[i].run));
  };
  const bool traced = std::ranges::any_of(samples, [](const StepSample& s) { return s.of != StepSample::Of::whole; });
  const bool alike = !traced && !samples.empty() && one_plan(times, timed.size(), {starts_of(free), slow_host});
  const RobustFit fit =
      alike ? of_one_plan(free, measured, predict) : fit_robust(measured, groups, free, predict, starts, kScatter);
  put_times(runs.front().software, network, free, fit, profiled, out);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    FittedRun& run = *timed[samples[i].run];
    run.measured_s = measured[i];
    run.predicted_s = run.predicted_s.value_or(measured[i]) + measured[i] * fit.errors[i];
    run.held_out_s = run.held_out_s.value_or(measured[i]) + measured[i] * fit.held_out[i];
  }
}

void fit_memory(std::span<const Scenario> runs, std::span<const std::string> profiled, RunFit& out) {
  std::vector<std::size_t> with_memory;
  std::vector<double> measured;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].measured.peak_memory) {
      with_memory.push_back(i);
      measured.push_back(static_cast<double>(runs[i].measured.peak_memory->value));
    }
  std::vector<Free> free;
  for (const StackConstant& c : of_memory()) free.push_back(free_of(c, runs.front().software));
  workload::Machines machines;
  const PredictSample predict = [&](const std::vector<double>& constants, std::size_t i) {
    Scenario s = runs[with_memory[i]];
    set_constants(of_memory(), constants, profiled, s.software);
    return bytes_of(s, machines);
  };
  bool alike = !measured.empty();
  for (std::size_t i = 1; i < measured.size(); ++i)
    alike = alike && predict(starts_of(free), i) == predict(starts_of(free), 0);
  const RobustFit fit = alike ? of_one_plan(free, measured, predict)
                              : fit_robust(measured, each_alone(measured.size()), free, predict, {}, kMemoryScatter);
  put_constants(of_memory(), fit, profiled, out);
  for (std::size_t i = 0; i < with_memory.size(); ++i) {
    FittedRun& run = out.runs[with_memory[i]];
    run.measured_bytes = measured[i];
    run.predicted_bytes = measured[i] * (1 + fit.errors[i]);
    run.held_out_bytes = measured[i] * (1 + fit.held_out[i]);
  }
}

}  // namespace

RunFit fit_runs(std::span<const Scenario> runs, std::span<const ShareOverNodes> network,
                std::span<const std::optional<Time>> traced_compute, std::span<const std::string> profiled) {
  RunFit out;
  NetworkModel model{{network.begin(), network.end()}, runs.front().software.transport, 0};
  for (const Scenario& run : runs) {
    out.runs.push_back({run.name, {}, {}});
    model.most_nodes = std::max(model.most_nodes, nodes_filled(run.cluster));
  }
  fit_times(runs, model, traced_compute, profiled, out);
  fit_memory(runs, profiled, out);
  return out;
}

Scenario with(const RunFit& fit, Scenario scenario) {
  const auto put = [&](const auto& constants) {
    for (const StackConstant& c : constants)
      for (const ProfileConstant& fitted : fit.constants)
        if (fitted.key == c.key && fitted.estimate.identified) c.set(scenario.software, fitted.estimate.value);
  };
  put(of_time());
  put(of_memory());
  for (const ProfileConstant& fitted : fit.constants) {
    const auto value = static_cast<std::uint32_t>(fitted.estimate.value);
    if (fitted.key == "send_delay_nodes") scenario.software.send_delay_nodes = value;
    if (fitted.key == "send_delay_tensor_nodes") scenario.software.send_delay_tensor_nodes = value;
  }
  if (!fit.network_shares.empty()) scenario.software.transport.network_shares = fit.network_shares;
  return scenario;
}

}  // namespace stepcast::calibrate
