#include "schedules/step/run_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "schedules/pipeline/period.h"
#include "schedules/step/build_step.h"
#include "schedules/step/inner_traffic.h"
#include "schedules/step/split.h"
#include "schedules/step/steady_state.h"
#include "schedules/step/traffic.h"
#include "workload/run.h"
#include "workload/transfers.h"

namespace stepcast::schedules {
namespace {

/// Fewer passes of a stage than this are not worth a search for what repeats.
constexpr std::size_t kFewPasses = 48;
/// Micro-batches, and periods, that are left in the pipeline's middle at first, in the hope that they suffice; then so
/// many times as many, but of the fewest periods that can show a repetition no more than twice as many.
constexpr std::uint32_t kMicroBatchesLeft = 6, kPeriodsLeft = 2, kMoreLeft = 3, kMoreThanFewest = 2;
std::uint32_t more(std::uint32_t left) { return left * (left == kPeriodsLeft ? kMoreThanFewest : kMoreLeft); }
/// The part of the whole that may be simulated for the first trial, and for each one more: who does not settle at once
/// may never, where stages' traffic meets on links.
constexpr double kFirstTrial = 2.0 / 3, kMoreTrials = 1.0 / 2;
/// Periods that may be one repetition. What is left out is so many times as many.
constexpr std::uint32_t kPeriodsOfOne = 2;

/// What the steps of one input have in common, however many micro-batches they have.
struct Common {
  explicit Common(const StepInput& in) {
    const LaneGroups lanes(in.pipeline->shape, in.ranks, in.unfold);
    traffic = declare_traffic(in, lanes);
    if (in.transfers || inner_may_meet(in)) inner.emplace(in, lanes, traffic);
    if (!in.transfers) {
      flows = std::make_shared<const workload::Flows>(flows_of(in, traffic));
      if (!inner && ranks_part(in, *flows)) {
        inner.emplace(in, lanes, traffic);
        flows = std::make_shared<const workload::Flows>(flows_of(in, traffic));
      }
      if (inner && !inner->keep_what_meets(in, *flows, traffic)) inner.reset();
    }
    if (!inner) see_whole(traffic);
  }

  Traffic traffic;
  std::optional<InnerTraffic> inner;  ///< where it is simulated among other traffic
  std::shared_ptr<const workload::Flows> flows;
};

/// Of all micro-batches that the pipeline has, but for what stages' times are made of.
StepRun all_of(const StepInput& in, const Common& common) {
  StepRun run;
  run.flows = common.flows;
  if (in.trace || in.record) run.communications = common.traffic.communications;
  run.step = build_step(in, common.traffic, common.inner ? &*common.inner : nullptr);
  run.shape = in.pipeline->shape;
  if (in.transfers) {
    workload::RunOfTransfers lowered =
        workload::run_transfers(run.step.program, common.traffic.communications, in.machine, in.watch);
    run.timeline = std::move(lowered.timeline);
    run.busy = std::move(lowered.busy);
  } else {
    run.timeline = workload::run(run.step.program, *common.flows);
  }
  run.time = step_time(run.step, run.timeline);
  return run;
}

/// What each stage's time is made of.
StepRun with_split(StepRun run) {
  run.split.resize(run.shape.stages);
  for (const Lane& lane : run.step.lanes)
    if (lane.speaks_for_its_stage()) run.split[lane.at.stage] = split_time(lane, run.timeline, run.time);
  return run;
}

/// Whether micro-batches take unlike times, or one replica is slower than the others, which run ahead of it.
bool go_apart(const Scenario& s) {
  return s.imperfections.jitter > 0 || (s.imperfections.slow_gpu && weight_copies(s.parallelism) > 1);
}

/// Whether the step is one that repeats, and has enough passes to look for it.
bool may_repeat(const StepInput& in) {
  const Shape& shape = in.pipeline->shape;
  const bool joined =  // all are one task
      shape.stages == 1 && !exchanges_in_each_micro_batch(in) && in.stragglers == nullptr;
  return in.pipeline->updates == Updates::after_flush && !go_apart(in.scenario) && !in.trace && !in.record &&
         !in.transfers && !joined && (in.pipeline->left_out > 0 || in.pipeline->orders.front().size() >= kFewPasses);
}

std::optional<StepRun> until_it_repeats(const StepInput& in, const Common& common) {
  const PlannedPipeline& known = *in.pipeline;
  const std::optional<Period> period = find_period(known.shape, known.orders);
  if (!period || (known.left_out > 0 && period->micro_batches != known.period)) return std::nullopt;
  const std::uint32_t all = known.shape.micro_batches + known.left_out,
                      times = period->times() + known.left_out / period->micro_batches;
  const std::uint32_t least = std::max(kPeriodsLeft, kMicroBatchesLeft / period->micro_batches);
  std::uint32_t left = least;
  for (double part = kFirstTrial; left < times; left = more(left), part = kMoreTrials) {
    // The first trial is as short as can be; later ones leave out what two periods as one may be repeated in.
    const std::uint32_t odd = (times - left) % kPeriodsOfOne, left_out = times - left - (left > least ? odd : 0),
                        micro_batches = all - left_out * period->micro_batches;
    if (micro_batches > part * all) return std::nullopt;
    PlannedPipeline fewer;
    if (known.left_out > 0) {
      fewer = with_micro_batches(in.scenario, known, micro_batches);
    } else {
      fewer = known;
      fewer.shape.micro_batches = micro_batches;
      fewer.orders = without(known.orders, *period, left_out);
    }
    StepInput trial = in;
    trial.pipeline = &fewer;
    StepRun run = all_of(trial, common);
    const std::optional<SteadyState> steady =
        steady_state(run.step, run.timeline, with_times(*period, times - left_out),
                     left_out % kPeriodsOfOne == 0 ? kPeriodsOfOne : 1);
    if (!steady) continue;
    run = with_split(std::move(run));
    const std::uint32_t repetitions = left_out / steady->periods;
    run.time += steady->period * repetitions;
    for (std::size_t stage = 0; stage < run.split.size(); ++stage)
      run.split[stage] = run.split[stage] + steady->split[stage] * repetitions;
    for (std::size_t i = 0; i < run.step.times.size(); ++i)
      run.step.times[i] += static_cast<double>(steady->times[i]) * repetitions;
    return run;
  }
  return std::nullopt;
}

}  // namespace

StepRun run_step(const StepInput& in) {
  const Common common(in);
  if (may_repeat(in))
    if (std::optional<StepRun> run = until_it_repeats(in, common)) return *std::move(run);
  if (in.pipeline->left_out == 0) return with_split(all_of(in, common));
  const PlannedPipeline whole = whole_pipeline(in.scenario);
  StepInput input = in;
  input.pipeline = &whole;
  return with_split(all_of(input, common));
}

StepRun run_whole_step(const StepInput& in) { return with_split(all_of(in, Common(in))); }

}  // namespace stepcast::schedules
