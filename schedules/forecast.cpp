#include "schedules/forecast.h"

#include <algorithm>
#include <map>

#include "models/layers/expert_load.h"
#include "models/layers/frozen.h"
#include "models/layers/fusion.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check_transfers.h"
#include "schedules/checks/invariants.h"
#include "schedules/checks/too_large.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pass_times/chunks.h"
#include "schedules/pipeline/in_flight.h"
#include "schedules/pipeline/placement.h"
#include "schedules/plan/advice.h"
#include "schedules/plan/kinds.h"
#include "schedules/plan/memory.h"
#include "schedules/plan/plan.h"
#include "schedules/step/asynchronous.h"
#include "schedules/step/critical_path.h"
#include "schedules/step/inner_traffic.h"
#include "schedules/step/link_loads.h"
#include "schedules/step/local_steps.h"
#include "schedules/step/memory_trace.h"
#include "schedules/step/recorded.h"
#include "schedules/step/run_step.h"
#include "schedules/step/stalls.h"
#include "schedules/step/step_detail.h"
#include "schedules/step/time_details.h"
#include "schedules/step/trace.h"
#include "sim/executor.h"
#include "sim/input_error.h"
#include "topology/cluster.h"
#include "workload/link_capacity.h"

namespace stepcast::schedules {
namespace {

/// The model as one GPU would hold it: without what the plan's ranks pad or have several times. Of a capacity, what it
/// drops on them stays.
Blocks whole_model(Scenario s) {
  if (s.training.expert_load.capacity) s.training.expert_load.capacity = routing(s).kept;
  s.parallelism = {};
  s.software.vocabulary_multiple = 1;
  Blocks whole = blocks(s);
  freeze(whole, s.training);
  return whole;
}

std::uint32_t layers_in(const Blocks& blocks, std::span<const BlockRange> chunks) {
  std::uint32_t layers = 0;
  for (const std::uint32_t place : places(chunks)) layers += blocks.at(place).layer;
  return layers;
}

BusyLink busy_link(const topology::Cluster& cluster, std::size_t at, double utilisation) {
  const topology::Link link = cluster.link(topology::LinkId{static_cast<std::uint32_t>(at)});
  return {link.from + " -> " + link.to, utilisation};
}

/// The link that is busy for the largest share of the step, where all traffic was lowered: `busy` by link.
std::optional<BusyLink> busiest_link(const topology::Cluster& cluster, std::span<const double> busy) {
  const auto most = std::ranges::max_element(busy);
  if (most == busy.end() || *most == 0) return std::nullopt;
  return busy_link(cluster, static_cast<std::size_t>(most - busy.begin()), *most);
}

/// The same where it was not: of tensor traffic, the step's and `more`.
std::optional<BusyLink> busiest_link(const topology::Cluster& cluster, const StepInput& in, const Step& step,
                                     const workload::Flows& flows, Time end,
                                     std::span<const collectives::Timing::Load> more) {
  constexpr double kUnused = -1;
  std::vector<double> carried(cluster.links(), kUnused);
  const auto carry = [&](topology::LinkId link, double bytes) {  // that it could carry meanwhile
    double& all = carried[topology::index(link)];
    all = all == kUnused ? bytes : all + bytes;
  };
  each_link_load(in, step, flows, more,
                 [&](topology::LinkId link, double occupied, const LoadOf&) { carry(link, occupied); });
  std::optional<std::uint32_t> busiest;
  double most = kUnused;
  for (std::uint32_t link = 0; link < carried.size(); ++link) {
    if (carried[link] == kUnused) continue;
    const double utilisation =
        carried[link] / (workload::link_capacity(cluster, topology::LinkId{link}).value * to_seconds(end));
    if (busiest && utilisation <= most) continue;
    busiest = link;
    most = utilisation;
  }
  if (!busiest) return std::nullopt;
  return busy_link(cluster, *busiest, most);
}

/// How long a communication, alone on the links that it crosses, keeps the busiest of them busy.
double seconds_of_busiest_link(const topology::Cluster& cluster, const workload::Flows& flows,
                               workload::CommunicationId communication) {
  std::map<topology::LinkId, double> seconds;
  double most = 0;
  flows.each_load(communication, [&](const collectives::Timing::Load& load) {
    double& sum = seconds[load.link];
    sum += load.occupied / workload::link_capacity(cluster, load.link).value;
    most = std::max(most, sum);
  });
  return most;
}

FusionSaving fusion_saving(Scenario s) {
  const KernelTraffic here = kernel_traffic(blocks(s));
  s.software = with_fusion(s.software, Fusion::none);
  const KernelTraffic unfused = kernel_traffic(blocks(s));
  return {unfused.launches - here.launches, unfused.launches, unfused.bytes - here.bytes, unfused.bytes};
}

Exchange exchange_of(const DataParallelPlan& plan) {
  if (plan.consistency != Consistency::bulk_synchronous) return Exchange::nothing;
  return plan.local_steps > 1 ? Exchange::parameters : Exchange::gradients;
}

/// Over all GPUs.
FlopRate mean_peak(const Scenario& s, std::span<const Scenario> kinds) {
  const Precision precision = s.training.precision;
  if (kinds.empty()) return peak(s.cluster.gpu, precision);
  const std::vector<std::uint32_t> gpus = gpus_of_kinds(s);
  double all = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    all += gpus[kind] * peak(kinds[kind].cluster.gpu, precision).value;
  return {all / s.cluster.gpus};
}

/// What needs no simulation.
Forecast told_by_plan(const Scenario& s, const Plan& plan, const Blocks& whole) {
  Forecast out;
  out.simulated = false;
  out.gpus = s.cluster.gpus;
  out.parameters = parameters(whole, cut(whole, 1));
  if (begins_frozen(s.training)) out.trained_parameters = trained_parameters(whole, cut(whole, 1));
  out.active_parameters = out.parameters - idle_parameters(s.model);
  const PlannedPipeline& pipeline = *plan.staged.pipeline;
  for (std::uint32_t stage = 0; stage < plan.memory.size(); ++stage) {
    StageReport& report = out.stages.emplace_back();
    report.stage = stage;
    report.memory = plan.memory[stage];
    report.layers = layers_in(*plan.staged.models.front(), plan.staged.chunks[stage]);
    report.in_flight = most_in_flight(pipeline.shape, pipeline.orders[stage]);
  }
  out.shares = plan.shares;
  out.host_memory = plan.host_memory;
  out.drives = plan.drives;
  out.out_of_memory = plan.out_of_memory;
  return out;
}

bool cannot_fit(const Plan& plan) {
  const std::optional<OutOfMemory>& over = plan.out_of_memory;
  return over && static_cast<double>(over->needed.value) > kSurelyTooMuch * static_cast<double>(over->available.value);
}

void add_advice(Forecast& out, const Scenario& s, workload::Machines& machines) {
  if (!out.out_of_memory) return;
  out.out_of_memory->advice = advice(s, machines, *out.out_of_memory);
  out.out_of_memory->advised = true;
}

/// The step where of groups that take unlike times all take that of the fastest. `first`: what passes take then.
/// `drift`: groups of the forecast would not stay together.
void add_at_least(Forecast& out, const StepInput& in, PieceTimes& first, bool drift) {
  StepInput at_least{in.scenario, in.machine, in.ranks, in.blocks, in.pipeline, in.chunks, first};
  at_least.unfold = in.unfold;
  at_least.first_siblings = true;
  at_least.stragglers = in.stragglers;
  at_least.copies = in.copies;
  at_least.exchange = in.exchange;
  if (const Time least = run_step(at_least).time; least < out.step) out.at_least = least;
  out.drift = drift && out.at_least;
}

/// What the step does in a second. `mean_peak`: of a GPU.
void add_rates(Forecast& out, const Scenario& s, const Blocks& whole, FlopRate mean_peak) {
  const double seconds = to_seconds(out.step);
  out.samples_per_second = static_cast<double>(s.training.global_batch) / seconds;
  if (has_tokens(s.model.family))
    out.tokens_per_second =
        static_cast<double>(s.training.global_batch * (s.training.sequence + s.training.decoder_sequence)) / seconds;
  const std::int64_t micro_batches_in_all = s.training.global_batch / s.training.micro_batch;
  const double flops = model_flops(whole).value * static_cast<double>(micro_batches_in_all);
  out.model_flops_per_gpu = {flops / seconds / static_cast<double>(out.gpus)};
  out.mfu = out.model_flops_per_gpu / mean_peak;
  if (model_flops(whole).value > 0) out.skipped_flops = skipped_flops(whole) / model_flops(whole);
}

/// One layer that is trained, of a model in which they are alike.
void add_layer(Forecast& out, const Scenario& s, const Blocks& model, PieceTimes& pieces) {
  const auto layer = std::ranges::find_if(model.kinds, [](const Block& b) { return b.layer && !b.frozen; });
  if (layer == model.kinds.end() || is_network(s.model.family)) return;
  const Piece& piece = pieces.at({})[static_cast<std::size_t>(layer - model.kinds.begin())].piece;
  out.layer_forward = in_a_row(piece.forward);
  out.layer_backward = in_a_row(piece.backward) + in_a_row(piece.weight);
}

/// What a timeline, or a page for a browser, draws of the step.
void add_trace(Forecast& out, const StepInput& in, const StepRun& run) {
  out.streams.assign(std::begin(kLaneStreams), std::end(kLaneStreams));
  out.spans = spans(run.step, run.timeline);
  out.passes = passes(run.step, run.timeline);
  out.arrows = arrows(run.step, run.timeline);
  if (run.flows)
    out.link_use = link_use(run.step, run.timeline, [&](workload::CommunicationId communication) {
      return seconds_of_busiest_link(in.machine.cluster(), *run.flows, communication);
    });
  std::vector<ActivationSizes> sizes;
  for (const std::vector<BlockRange>& stage : in.chunks)
    sizes.push_back(activation_sizes(in.scenario, in.blocks, stage));
  out.memory = memory_points(run.step, run.timeline, run.shape, sizes, out.stages);
}

/// What is made of the simulated step once its time is known. `whole`: the model as one GPU would hold it. `more`: what
/// links carry beside the step's own traffic. `busy`: by link, where all traffic was lowered.
void add_figures(Forecast& out, const StepInput& in, const StepRun& run, const Blocks& whole, FlopRate mean_peak,
                 std::span<const collectives::Timing::Load> more, std::span<const double> busy,
                 const ForecastOptions& options) {
  if (in.scenario.training.fusion) out.fusion = fusion_saving(in.scenario);
  out.spread = topology::job_spread(in.machine.cluster());
  add_stalls(out, in.scenario, trained_parameters(whole, cut(whole, 1)));
  if (options.time_details)
    for (StageReport& stage : out.stages) tell_details(in, stage.stage, stage.time);
  add_rates(out, in.scenario, whole, mean_peak);
  add_layer(out, in.scenario, in.blocks, in.pieces);
  // Of steps that overlap the one that is measured may be shorter than the mean of all, whose traffic is counted.
  const Time mean = picoseconds(run.timeline.end.value / std::max<std::int64_t>(in.pipeline->steps, 1));
  const Time in_all = in.pipeline->updates == Updates::after_flush ? out.step : std::max(out.step, mean);
  const topology::Cluster& cluster = in.machine.cluster();
  out.busiest_link =
      run.flows ? busiest_link(cluster, in, run.step, *run.flows, in_all, more) : busiest_link(cluster, busy);
  if (in.exchange != Exchange::nothing) check_invariants(out);  // workers that wait for nobody have no one step
  if (!options.trace) return;
  add_trace(out, in, run);
  if (options.step_detail) out.detail = step_detail(in, run, in_all, more);
}

Forecast forecast_on(const workload::Machine& machine, workload::Machines& machines, const Scenario& s,
                     const ForecastOptions& options, bool unfold);

/// Collectives are simulated whole only where that was asked for.
std::shared_ptr<const workload::Machine> machine_for(const Scenario& s, workload::Machines& machines,
                                                     const ForecastOptions& options) {
  workload::MachineSpec spec = machine_of(s);
  spec.whole_collectives = options.unfold;
  return machines.of(spec);
}

/// The step without the scenario's imperfections.
Time perfect_step(workload::Machines& machines, Scenario s, const ForecastOptions& options,
                  const workload::WatchLowered& watch) {
  s.imperfections = {};
  const std::shared_ptr<const workload::Machine> machine = machine_for(s, machines, options);
  const ForecastOptions own{.transfers = options.transfers, .advise = false, .compare = false, .watch = &watch};
  // Its ranks may be alike, and then few lanes do. Where folding is not exact both are simulated in the same way.
  const bool alike = !options.unfold && !options.transfers && !every_rank_differs(s);
  Forecast without = forecast_on(*machine, machines, s, own, !alike);
  if (alike && without.at_least && !without.drift) without = forecast_on(*machine, machines, s, own, true);
  return without.step;
}

/// `unfold`: a lane for every rank.
Forecast forecast_on(const workload::Machine& machine, workload::Machines& machines, const Scenario& s,
                     const ForecastOptions& options, bool unfold) {
  const topology::Cluster& cluster = machine.cluster();
  const collectives::Timer& timer = machine.timer();
  const Ranks ranks(s.parallelism, cluster.gpus_per_node(), cluster.fabric_may_block());
  const Plan planned = plan(s, kinds_of(s, ranks, timer));
  const StagedModel& staged = planned.staged;
  const PlannedPipeline& brief = *staged.pipeline;
  const std::vector<std::vector<BlockRange>>& chunks = staged.chunks;
  const Blocks& model = *staged.models.front();
  std::optional<OtherKind> other;
  if (s.cluster.other) other.emplace(OtherKind{staged.kinds.back(), *staged.models.back()});
  const Stragglers stragglers(s.imperfections, ranks);
  const bool imperfect = s.imperfections.any();
  std::optional<HostCopies> copies;
  if (s.offload.any()) copies.emplace(s, cluster);
  const auto times_with = [&](SiblingTime siblings) {
    return PieceTimes(staged.kind(s, 0), model, ranks, timer, !unfold, brief.shape.splits_backward, other,
                      copies ? &*copies : nullptr, siblings);
  };
  PieceTimes pieces = times_with(SiblingTime::all);
  if (options.step_detail) pieces.keep_shares();
  // Of data ranks in like places the first is timed, whose links each_link_load tells of.
  for (std::uint32_t stage = 0; stage < chunks.size(); ++stage) pieces.at({.stage = stage});
  const Exchange exchange = exchange_of(s.data_parallel);
  const bool every_task = options.trace || options.critical_path || options.record;
  const bool all_alike = !unfold && !every_task && !imperfect && exchange == Exchange::gradients;
  const PlannedPipeline pipeline = all_alike ? brief : whole_pipeline(s);
  workload::Lowered lowered;  // all that is
  const workload::WatchLowered counting = [&](const workload::Lowered& program, std::size_t ended) {
    if (ended == 0) {
      lowered.tasks += program.tasks;
      lowered.transfers += program.transfers;
    }
    if (options.watch != nullptr) (*options.watch)(program, ended);
  };
  StepInput input{s, machine, ranks, model, &pipeline, chunks, pieces, unfold};
  input.trace = every_task;
  input.transfers = options.transfers;
  if (imperfect) input.stragglers = &stragglers;
  if (copies) input.copies = &*copies;
  input.exchange = exchange;
  input.watch = &counting;
  input.record = options.record;
  const StepRun run = run_step(input);
  const bool exact = unfold || (run.flows->alike() && pieces.alike());
  if (s.cluster.gpus <= kMostUnfoldedGpus && !(exact && (unfold || run.flows->nodes_alike())) &&
      !too_much_work(s, true))
    return forecast_on(machine, machines, s, options, true);

  const Blocks whole = whole_model(s);
  Forecast out = told_by_plan(s, planned, whole);
  out.simulated = true;
  out.step = run.time;
  const bool drift = unfold && run.flows && run.flows->drift();
  if (!exact || drift) {
    PieceTimes first = times_with(SiblingTime::first);
    add_at_least(out, input, first, drift);
  }
  if (out.step == Time{}) throw InputError("model", "a step takes less than 1 ps, expected operators with work to do");
  for (StageReport& stage : out.stages) stage.time = run.split[stage.stage];
  if (options.critical_path && exchange == Exchange::gradients)
    out.critical_path = critical_path(run.step, run.timeline);
  std::vector<collectives::Timing::Load> more = copied(input);
  std::vector<double> busy_in_round;
  if (options.record && exchange == Exchange::gradients) out.recorded = recorded(run, input);
  if (exchange == Exchange::parameters) busy_in_round = average_round(out, input);
  if (exchange == Exchange::nothing) more = run_asynchronously(out, input);
  if (out.at_least && *out.at_least >= out.step) out.at_least.reset();  // of a round that others are shorter than
  if (options.transfers) out.lowered = lowered;
  if (options.advise) add_advice(out, s, machines);
  if (imperfect && options.compare) out.perfect = perfect_step(machines, s, options, counting);
  add_figures(out, input, run, whole, mean_peak(s, staged.kinds), more,
              exchange == Exchange::parameters ? busy_in_round : run.busy, options);
  return out;
}

}  // namespace

Forecast forecast(const Scenario& s, workload::Machines& machines, const ForecastOptions& options) {
  if (options.unfold || options.transfers || options.record)
    if (const std::optional<Problem> much = too_much_work(s, true))
      throw InputError(options.unfold ? "--unfold" : options.transfers ? "--detail transfers" : "--chakra", much->text);
  if (options.transfers) {
    for (const Problem& problem : check_transfers(s)) throw InputError(problem.key, problem.text);
    if (const std::optional<std::string> much = too_many_parts(s)) throw InputError("--detail transfers", *much);
  }
  if (options.simulate != Simulate::all) {
    const Plan planned = plan(s, machines);
    if (options.simulate == Simulate::nothing || cannot_fit(planned)) {
      Forecast out = told_by_plan(s, planned, whole_model(s));
      if (options.advise) add_advice(out, s, machines);
      return out;
    }
  }
  const std::shared_ptr<const workload::Machine> machine = machine_for(s, machines, options);
  return forecast_on(*machine, machines, s, options,
                     options.unfold || options.transfers || options.record || every_rank_differs(s));
}

Forecast forecast(const Scenario& s, const ForecastOptions& options) {
  workload::Machines own;
  return forecast(s, own, options);
}

}  // namespace stepcast::schedules
