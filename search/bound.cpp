#include "search/bound.h"

#include <algorithm>
#include <vector>

#include "models/cost/optimizer.h"
#include "models/layers/frozen.h"
#include "schedules/checks/too_large.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/forecast.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/traffic.h"
#include "workload/link_capacity.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// What the passes of a virtual stage take for one micro-batch.
struct ChunkTimes {
  Time forward{}, backward{}, weight{};  ///< backward without `weight`, where that is a pass of its own
  Time host{};                           ///< to launch all of them
};

/// What is known of a plan before any traffic between ranks of unlike stages or data ranks.
struct Passes {
  const Scenario& s;
  Shape shape;
  std::vector<std::vector<ChunkTimes>> chunks;  ///< by stage and virtual stage
  std::vector<Time> update;                     ///< of the weights, by stage
};

/// What of a pass surely takes the GPU's time. `kernels_alone`: traffic in it may hide, or take less than when all
/// groups ask at once (up to kMostUnfoldedGpus GPUs each group may go its own way, and with GPUs of two kinds it does).
Time least(const PassTime& pass, bool kernels_alone) {
  return kernels_alone ? pass.compute + pass.exposed_host : pass.duration;
}

/// Whether hosts hold up passes one by one; else they run ahead of the GPU.
bool host_runs_ahead(const Scenario& s) {
  const bool waits_for_sends =
      s.software.pipeline_sync && !schedules::pipeline_overlap(s) && s.parallelism.pipeline > 1;
  return !s.software.launch_blocking && s.software.cuda_graphs != CudaGraphs::step && !waits_for_sends;
}

/// The blocks of the model on the first and the last data rank of a stage, which may have GPUs of two kinds.
struct OnStage {
  const std::vector<PieceTimes::TimedPiece>&first, &last;
};

/// On the faster of its GPUs.
ChunkTimes times_of(const Scenario& s, const Blocks& blocks, const BlockRange& range, const OnStage& kinds,
                    bool kernels_alone) {
  ChunkTimes times;
  for (const std::uint32_t place : places({&range, 1})) {
    const Piece &a = kinds.first[blocks.order[place]].piece, &b = kinds.last[blocks.order[place]].piece;
    const auto shorter = [&](PassTime Piece::*pass) {
      return std::min(least(a.*pass, kernels_alone), least(b.*pass, kernels_alone));
    };
    times.forward += shorter(&Piece::forward);
    times.backward += shorter(&Piece::backward);
    times.weight += shorter(&Piece::weight);
    const auto host = [](const Piece& of) {
      return of.forward.host.time + of.backward.host.time + of.weight.host.time;
    };
    times.host += std::min(host(a), host(b));
  }
  times.host += s.software.host_per_pass * 2;
  return times;
}

Time update_of(const Scenario& s, const Plan& plan, std::uint32_t stage) {
  if (s.training.optimizer == Optimizer::none) return {};
  Time update = s.software.host_per_step;
  if (s.offload.optimizer != Tier::gpu) return update;
  const Held trained = trained_held(plan.staged.models.front(), plan.staged.chunks[stage]);
  const double parameters = updated(s, trained, copies(plan.staged.pipeline.shape));
  Time of_gpu = optimizer_time(s.cluster.gpu, s.software, s.training.optimizer, parameters);
  if (s.cluster.other)
    of_gpu = std::min(of_gpu, optimizer_time(s.cluster.other->gpu, s.software, s.training.optimizer, parameters));
  return update + of_gpu;
}

/// How the passes of a plan follow each other at best. What else takes time between them is added to it.
class Course {
 public:
  Course(const Passes& passes, Updates updates) : p_(passes), drains_(updates == Updates::after_flush) {
    sent_.resize(p_.shape.stages);
    between_.resize(p_.shape.stages);
    behind_.resize(p_.shape.stages);
    beside_.resize(p_.shape.stages);
  }

  /// What a tensor takes from a stage to the next one, and to the one before.
  void send(std::uint32_t stage, Time down, Time up) {
    sent_[stage] = {down, up};
    heads_.clear();
  }
  /// What of one kind keeps a stage from running passes, all of them together. Unlike kinds may run at once.
  void between(std::uint32_t stage, Time time) { between_[stage] = std::max(between_[stage], time); }
  /// What follows a stage's last pass, its update included.
  void behind(std::uint32_t stage, Time time) {
    behind_[stage] += time;
    tails_.clear();
  }
  /// What the stage's step takes at least besides: traffic of one stream, one after the other, and its update.
  void beside(std::uint32_t stage, Time time) { beside_[stage] = std::max(beside_[stage], time); }

  /// The end of the step.
  Time least() const {
    Time end{};
    for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage)
      end = std::max({end, end_of(stage), beside_[stage]});
    return end;
  }

  /// Passes of a stage in a step.
  Time busy(std::uint32_t stage, bool with_weights = true) const {
    Time all{};
    for (std::uint32_t v = 0; v < p_.shape.virtual_stages; ++v) {
      const ChunkTimes& chunk = p_.chunks[stage][v];
      all += (chunk.forward + chunk.backward + (with_weights ? chunk.weight : Time{})) * visits(stage, v);
    }
    return all;
  }

  /// Micro-batches that visit a virtual stage.
  std::int64_t visits(std::uint32_t stage, std::uint32_t v) const {
    const std::int64_t all = micro_batches(p_.s);
    if (copies(p_.shape) == 1) return all;
    return held(p_.shape, {stage, v}).copy == 0 ? (all + 1) / 2 : all / 2;
  }

  /// Before a stage's first pass.
  Time head(std::uint32_t stage) const {
    Time least = head_of(stage, 0);
    for (std::uint32_t v = 1; v < p_.shape.virtual_stages; ++v) least = std::min(least, head_of(stage, v));
    return least;
  }

 private:
  Time sent(ChunkPlace from, bool forward) const {
    const std::optional<ChunkPlace> to = next_place(p_.shape, from, forward);
    if (!to || to->stage == from.stage) return {};
    return goes_down(p_.shape, from.virtual_stage) == forward ? sent_[from.stage].down : sent_[from.stage].up;
  }

  const ChunkTimes& times(ChunkPlace at) const { return p_.chunks[at.stage][at.virtual_stage]; }

  /// By copy of the model and chunk: what comes before its first forward pass; and from the end of its last backward
  /// pass on the way back of the last micro-batch, and what follows it on each stage that it comes through.
  void go_along() const {
    const std::uint32_t of_copy = chunks(p_.shape);
    heads_.assign(of_copy * copies(p_.shape), {});
    tails_ = heads_;
    for (std::uint32_t copy = 0; copy < copies(p_.shape); ++copy)
      for (std::uint32_t chunk = 0; chunk < of_copy; ++chunk) {
        const std::size_t at = std::size_t{copy} * of_copy + chunk;
        const ChunkPlace here = place(p_.shape, {copy, chunk});
        tails_[at] = behind_[here.stage];
        if (chunk == 0) continue;
        const ChunkPlace before = place(p_.shape, {copy, chunk - 1});
        heads_[at] = heads_[at - 1] + times(before).forward + sent(before, true);
        const Time backward = times(before).backward;  // none: it is frozen, and nothing comes back
        if (backward > Time{}) tails_[at] = std::max(tails_[at], sent(here, false) + backward + tails_[at - 1]);
      }
  }
  std::size_t number(std::uint32_t stage, std::uint32_t v) const {
    const ModelChunk at = held(p_.shape, {stage, v});
    return std::size_t{at.copy} * chunks(p_.shape) + at.chunk;
  }
  Time head_of(std::uint32_t stage, std::uint32_t v) const {
    if (heads_.empty()) go_along();
    return heads_[number(stage, v)];
  }

  Time tail(std::uint32_t stage) const {
    if (tails_.empty()) go_along();
    Time least = tails_[number(stage, 0)];
    for (std::uint32_t v = 1; v < p_.shape.virtual_stages; ++v) least = std::min(least, tails_[number(stage, v)]);
    return least;
  }

  Time end_of(std::uint32_t stage) const {
    const Time between = between_[stage];
    if (!drains_) return busy(stage);  // of a step among others, which its update may overlap
    const Time begin = head(stage) + between;
    return begin + std::max(busy(stage) + behind_[stage], busy(stage, false) + tail(stage));
  }

  struct Sent {
    Time down{}, up{};
  };
  const Passes& p_;
  const bool drains_;
  std::vector<Sent> sent_;
  std::vector<Time> between_, behind_, beside_;
  mutable std::vector<Time> heads_, tails_;  ///< empty: to be worked out anew
};

/// The times of a plan's data-parallel traffic that nothing can hide, added to its course. Where stages hold two copies
/// of the model, or never drain, nothing is.
class DataTraffic {
 public:
  DataTraffic(const Passes& passes, const Traffic& traffic, const workload::Flows& flows)
      : p_(passes), s_(passes.s), traffic_(traffic), flows_(flows) {}

  void add_to(Course& course) const {
    for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage) {
      const DataPlan& plan = traffic_.data[stage];
      // Updated parameters, where there is an update.
      const Time spread = s_.training.optimizer == Optimizer::none ? Time{} : alone(plan.spread);
      if (s_.data_parallel.zero == 3) add_gathers(course, stage, plan);
      if (plan.whole)
        course.behind(stage, alone(plan.whole) + spread);
      else if (sums_each_micro_batch(s_))
        add_sums_of_micro_batches(course, stage, plan, spread);
      else
        add_last_sums(course, stage, plan, spread);
    }
  }

 private:
  Time alone(const std::optional<Declared>& declared) const {
    return declared ? flows_.alone(declared->communication) : Time{};
  }
  Time alone(const std::vector<Declared>& sums) const {
    Time all{};
    for (const Declared& sum : sums) all += flows_.alone(sum.communication);
    return all;
  }

  /// Parameters before each pass of each piece: those that cannot come ahead come between two passes.
  void add_gathers(Course& course, std::uint32_t stage, const DataPlan& plan) const {
    Time between{}, all{}, first{};
    for (std::uint32_t v = 0; v < plan.gathers.size(); ++v) {
      const Chunk& chunk = plan.chunks[v];
      const bool trains = std::ranges::any_of(chunk.pieces, [](const Piece& piece) { return piece.trained > 0; });
      Time rest{}, both{};
      for (std::size_t i = 0; i < chunk.pieces.size(); ++i) {
        const Piece& piece = chunk.pieces[i];
        const bool back = trains && (piece.backward.duration > Time{} || piece.trained > 0);
        const Time here = alone(plan.gathers[v][i].rest), ahead = alone(plan.gathers[v][i].ahead);
        first = std::max(first, here);
        rest += here * (back ? 2 : 1);
        both += (here + ahead) * (back ? 2 : 1);
      }
      between += rest * course.visits(stage, v);
      all += both * course.visits(stage, v);
    }
    if (between > first) course.between(stage, between - first);  // the first may come while the stage waits to begin
    course.beside(stage, all + p_.update[stage]);
  }

  /// The sum that follows the last piece of a backward pass; of several chunks that of the shortest. None follows where
  /// that piece has no gradients.
  Time last_sum(const DataPlan& plan) const {
    std::optional<Time> least;
    for (std::size_t v = 0; v < plan.buckets.size(); ++v) {
      const bool follows = !plan.buckets[v].empty() && plan.bucket_ends[v].back() + 1 == plan.chunks[v].pieces.size();
      const Time here = follows ? flows_.alone(plan.buckets[v].back().communication) : Time{};
      least = std::min(least.value_or(here), here);
    }
    return least.value_or(Time{});
  }

  void add_sums_of_micro_batches(Course& course, std::uint32_t stage, const DataPlan& plan, Time spread) const {
    Time all{}, longest{};
    for (std::uint32_t v = 0; v < plan.buckets.size(); ++v) {
      all += alone(plan.buckets[v]) * course.visits(stage, v);
      for (const Declared& sum : plan.buckets[v]) longest = std::max(longest, flows_.alone(sum.communication));
    }
    // Each keeps the stage from its next pass, but for the last one.
    if (!data_overlap(s_) && all > longest) course.between(stage, all - longest);
    course.behind(stage, last_sum(plan) + spread);
    course.beside(stage, all + p_.update[stage] + spread);
  }

  /// Of sums beside the last backward pass the last one follows it, and with one chunk they all come while it runs.
  void add_last_sums(Course& course, std::uint32_t stage, const DataPlan& plan, Time spread) const {
    if (plan.buckets.size() == 1) {
      const ChunkTimes& chunk = p_.chunks[stage].front();
      const Time before = course.head(stage) + course.busy(stage) - chunk.backward - chunk.weight;
      course.beside(stage, before + alone(plan.buckets.front()) + p_.update[stage] + spread);
    }
    course.behind(stage, last_sum(plan) + spread);
  }

  const Passes& p_;
  const Scenario& s_;
  const Traffic& traffic_;
  const workload::Flows& flows_;
};

/// Whether nothing is bounded.
bool unbounded(const Scenario& s) {
  return s.data_parallel.mode == DataParallelMode::parameter_server || s.imperfections.any() ||
         s.data_parallel.consistency != Consistency::bulk_synchronous || s.data_parallel.local_steps > 1;
}

/// When the busiest link has carried all data-parallel traffic of a step, whatever runs beside what.
Time busiest_link(const Passes& passes, const Course& course, const Traffic& traffic, const workload::Flows& flows) {
  const Scenario& s = passes.s;
  std::vector<double> carried(flows.cluster().links(), 0);
  const auto carry = [&](const std::optional<Declared>& declared, std::int64_t times) {
    if (!declared) return;
    flows.each_load(declared->communication, [&](const collectives::Timing::Load& load) {
      carried[topology::index(load.link)] += load.occupied * static_cast<double>(times);
    });
  };
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    const DataPlan& plan = traffic.data[stage];
    carry(plan.whole, 1);
    if (s.training.optimizer != Optimizer::none) carry(plan.spread, 1);
    for (std::uint32_t v = 0; v < plan.buckets.size(); ++v) {
      for (const Declared& sum : plan.buckets[v]) carry(sum, sums_each_micro_batch(s) ? course.visits(stage, v) : 1);
      if (v >= plan.gathers.size()) continue;
      for (const Gathers& gathers : plan.gathers[v]) {  // at least for the forward passes, and where it is trained back
        const bool back = !plan.buckets[v].empty() && s.training.frozen_layers == 0;
        carry(gathers.ahead, course.visits(stage, v) * (back ? 2 : 1));
        carry(gathers.rest, course.visits(stage, v) * (back ? 2 : 1));
      }
    }
  }
  double most = 0;
  for (std::uint32_t link = 0; link < carried.size(); ++link)
    if (carried[link] > 0)
      most = std::max(most,
                      carried[link] / workload::link_capacity(flows.cluster(), nullptr, topology::LinkId{link}).value);
  constexpr double kRounding = 1e-6;  // of many loads that are rounded to picoseconds each
  return from_seconds(most * (1 - kRounding));
}

/// Sends between stages, and what they keep the GPU from where nothing runs beside them.
void add_sends(Course& course, const Passes& passes, const Traffic& traffic, const workload::Flows& flows) {
  for (std::uint32_t stage = 0; stage < passes.shape.stages && passes.shape.stages > 1; ++stage) {
    const Time down = flows.alone(traffic.sends[stage][0].communication),
               up = flows.alone(traffic.sends[stage][1].communication);
    course.send(stage, down, up);
    if (pipeline_overlap(passes.s)) continue;
    Time all{};
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      for (const bool forward : {true, false}) {
        const std::optional<ChunkPlace> to = next_place(passes.shape, {stage, v}, forward);
        if (!to || to->stage == stage) continue;
        if (!forward && passes.chunks[to->stage][to->virtual_stage].backward == Time{}) continue;  // frozen
        all += (goes_down(passes.shape, v) == forward ? down : up) * course.visits(stage, v);
      }
    const Time last = std::max(down, up);  // it is part of the way back
    if (all > last) course.between(stage, all - last);
  }
}

bool has_updates_after_flush(const Plan& plan) { return plan.staged.pipeline.updates == Updates::after_flush; }

Passes passes_of(const Scenario& s, const Plan& plan, PieceTimes& pieces) {
  Passes passes{s, plan.staged.pipeline.shape, {}, {}};
  std::vector<OnStage> kinds;
  const std::uint32_t last = s.cluster.other ? weight_copies(s.parallelism) - 1 : 0;
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage)
    kinds.push_back({pieces.at({0, 0, stage}), pieces.at({0, last, stage})});
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  const bool own_times = !pieces.alike() && s.cluster.gpus <= kMostUnfoldedGpus;
  const bool kernels_alone = own_times || s.cluster.other || schedule == nullptr || schedule->runs_together;
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    std::vector<ChunkTimes>& chunks = passes.chunks.emplace_back();
    for (const BlockRange& range : plan.staged.chunks[stage])
      chunks.push_back(times_of(s, plan.staged.models.front(), range, kinds[stage], kernels_alone));
    passes.update.push_back(update_of(s, plan, stage));
  }
  return passes;
}

Course course_of(const Passes& passes, const Plan& plan) {
  Course course(passes, plan.staged.pipeline.updates);
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    course.behind(stage, passes.update[stage]);
    // The host launches all passes one after the other, and then the update.
    if (!has_updates_after_flush(plan) || !host_runs_ahead(passes.s) || passes.s.training.optimizer == Optimizer::none)
      continue;
    Time launched{};
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      launched += passes.chunks[stage][v].host * course.visits(stage, v);
    course.beside(stage, launched + passes.update[stage]);
  }
  return course;
}

}  // namespace

Time StepBound::of_passes(const Scenario& s, const Plan& plan) {
  if (unbounded(s)) return {};
  LayerTimes::Timed& own = times_.of(s, plan);
  const Passes passes = passes_of(s, plan, own.pieces);
  return course_of(passes, plan).least();
}

Time StepBound::with_traffic(const Scenario& s, const Plan& plan) {
  if (unbounded(s)) return {};
  LayerTimes::Timed& own = times_.of(s, plan);
  const Passes passes = passes_of(s, plan, own.pieces);
  Course course = course_of(passes, plan);
  const bool one_model = copies(passes.shape) == 1 && has_updates_after_flush(plan);
  const bool may_unfold = s.cluster.gpus <= kMostUnfoldedGpus;
  if ((may_unfold && !own.pieces.alike()) || !one_model || s.cluster.other) return course.least();
  StepInput input{
      s,         times_.machine(), own.ranks, plan.staged.models.front(), &plan.staged.pipeline, plan.staged.chunks,
      own.pieces};
  input.first_siblings = true;
  const Traffic traffic = declare_traffic(input, LaneGroups(passes.shape, own.ranks, false));
  const workload::Flows flows = flows_of(input, traffic);
  if (may_unfold && !flows.alike()) return course.least();
  add_sends(course, passes, traffic, flows);
  if (weight_copies(s.parallelism) == 1) return course.least();
  DataTraffic(passes, traffic, flows).add_to(course);
  return std::max(course.least(), busiest_link(passes, course, traffic, flows));
}

}  // namespace stepcast::search
