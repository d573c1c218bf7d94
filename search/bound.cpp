#include "search/bound.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
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
#include "search/traffic_times.h"
#include "workload/link_capacity.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// Of what links carry: many loads that are rounded to picoseconds each.
constexpr double kOfLoads = 1e-6;

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
  bool stand_alone = false;                     ///< groups that share a link need not ask at once
  /// By stage: passes forward and back of each kind of block in a step, and what traffic inside the layers loads; none:
  /// GPUs of two kinds have times and traffic of their own.
  std::vector<std::vector<double>> runs{};
  std::vector<const InnerLoads*> loads{};
};

/// What of a pass surely takes the GPU's time. `kernels_alone`: traffic in it may hide, or take less than when all
/// groups ask at once.
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

/// Traffic that the ranks of a sample begin at the same moment, because they wait for each other inside every layer.
class InStep {
 public:
  /// Of none.
  InStep(const TrafficTimes& times, const topology::Cluster& cluster) : times_(times), cluster_(cluster) {}

  /// Those of the first sample, where groups stand alone: simulated steps keep ranks in step by their traffic inside
  /// layers if groups of any other traffic take unlike times.
  void find(const Passes& passes, const Plan& plan, const Ranks& ranks, const Traffic& traffic) {
    const Parallelism& p = passes.s.parallelism;
    const auto takes_unlike_times = [&](const std::array<Declared, 2>& sends) {
      return times_.unlike(sends[0].communication) || times_.unlike(sends[1].communication);
    };
    if (p.tensor * p.context == 1 || p.pipeline == 1 || std::ranges::none_of(traffic.sends, takes_unlike_times)) return;
    const Blocks& blocks = plan.staged.models.front();
    for (const std::vector<BlockRange>& chunks : plan.staged.chunks)
      for (const BlockRange& chunk : chunks) {
        bool layer = false;
        for (const std::uint32_t place : places({&chunk, 1})) layer = layer || blocks.at(place).layer;
        if (!layer) return;
      }
    together_.resize(ranks.count());
    for (std::uint32_t rank = 0; rank < ranks.count(); ++rank)
      together_[rank] = ranks.coordinate(rank).data < p.context;
  }

  /// What they take at least, one after the other.
  Time least(std::initializer_list<const Declared*> all) const {
    std::vector<workload::CommunicationId> ids;
    Time alone{};
    for (const Declared* each : all) {
      if (each == nullptr) continue;
      ids.push_back(each->communication);
      alone += times_.alone(each->communication);
    }
    return together_.empty() ? alone : times_.begun_together(ids, together_, cluster_);
  }

 private:
  const TrafficTimes& times_;
  const topology::Cluster& cluster_;
  std::vector<bool> together_;  ///< by GPU; empty: nothing is known
};

/// The times of a plan's data-parallel traffic that nothing can hide, added to its course. Where stages hold two copies
/// of the model, or never drain, nothing is.
class DataTraffic {
 public:
  DataTraffic(const Passes& passes, const Traffic& traffic, const TrafficTimes& times, const InStep& in_step)
      : p_(passes), s_(passes.s), traffic_(traffic), times_(times), in_step_(in_step) {}

  void add_to(Course& course) const {
    for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage) {
      const DataPlan& plan = traffic_.data[stage];
      // Updated parameters, where there is an update.
      const Time spread = s_.training.optimizer == Optimizer::none ? Time{} : alone(plan.spread);
      if (s_.data_parallel.zero == 3) add_gathers(course, stage, plan);
      if (plan.whole)
        course.behind(stage, after(stage, &*plan.whole, plan));
      else if (sums_each_micro_batch(s_))
        add_sums_of_micro_batches(course, stage, plan, spread);
      else
        add_last_sums(course, stage, plan, spread);
    }
  }

 private:
  Time alone(const std::optional<Declared>& declared) const {
    return declared ? times_.alone(declared->communication) : Time{};
  }
  Time alone(const std::vector<Declared>& sums) const {
    Time all{};
    for (const Declared& sum : sums) all += times_.alone(sum.communication);
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
  const Declared* last_sum(const DataPlan& plan) const {
    const Declared* shortest = nullptr;
    for (std::size_t v = 0; v < plan.buckets.size(); ++v) {
      if (plan.buckets[v].empty() || plan.bucket_ends[v].back() + 1 != plan.chunks[v].pieces.size()) return nullptr;
      const Declared& last = plan.buckets[v].back();
      if (shortest == nullptr || times_.alone(last.communication) < times_.alone(shortest->communication))
        shortest = &last;
    }
    return shortest;
  }

  /// What follows the last pass besides the update: a sum, and where there is an update its parameters.
  Time after(std::uint32_t stage, const Declared* sum, const DataPlan& plan) const {
    const bool spreads = plan.spread && s_.training.optimizer != Optimizer::none;
    const Declared* spread = spreads ? &*plan.spread : nullptr;
    const Time alone = (sum != nullptr ? times_.alone(sum->communication) : Time{}) +
                       (spreads ? times_.alone(spread->communication) : Time{});
    return std::max(alone, in_step_.least({sum, spread}) - p_.update[stage]);  // some ranks may update meanwhile
  }

  void add_sums_of_micro_batches(Course& course, std::uint32_t stage, const DataPlan& plan, Time spread) const {
    Time all{}, longest{};
    for (std::uint32_t v = 0; v < plan.buckets.size(); ++v) {
      all += alone(plan.buckets[v]) * course.visits(stage, v);
      for (const Declared& sum : plan.buckets[v]) longest = std::max(longest, times_.alone(sum.communication));
    }
    // Each keeps the stage from its next pass, but for the last one.
    if (!data_overlap(s_) && all > longest) course.between(stage, all - longest);
    course.behind(stage, after(stage, last_sum(plan), plan));
    course.beside(stage, all + p_.update[stage] + spread);
  }

  /// Of sums beside the last backward pass the last one follows it, and with one chunk they all come while it runs.
  void add_last_sums(Course& course, std::uint32_t stage, const DataPlan& plan, Time spread) const {
    if (plan.buckets.size() == 1) {
      const ChunkTimes& chunk = p_.chunks[stage].front();
      const Time before = course.head(stage) + course.busy(stage) - chunk.backward - chunk.weight;
      course.beside(stage, before + alone(plan.buckets.front()) + p_.update[stage] + spread);
    }
    course.behind(stage, after(stage, last_sum(plan), plan));
  }

  const Passes& p_;
  const Scenario& s_;
  const Traffic& traffic_;
  const TrafficTimes& times_;
  const InStep& in_step_;
};

/// Whether nothing is bounded.
bool unbounded(const Scenario& s) {
  return s.data_parallel.mode == DataParallelMode::parameter_server || s.imperfections.any() ||
         s.data_parallel.consistency != Consistency::bulk_synchronous || s.data_parallel.local_steps > 1;
}

/// Whether a stage sends on, forward or back, what each micro-batch has made of a chunk.
bool sends(const Passes& passes, ChunkPlace from, bool forward) {
  const std::optional<ChunkPlace> to = next_place(passes.shape, from, forward);
  if (!to || to->stage == from.stage) return false;
  return forward || passes.chunks[to->stage][to->virtual_stage].backward > Time{};  // else it is frozen
}

/// Bytes over links in a step, whatever runs beside what.
class Links {
 public:
  Links(const Passes& passes, const Course& course, const topology::Cluster& cluster)
      : p_(passes), course_(course), cluster_(cluster), seconds_(cluster.links(), 0) {}

  /// When the busiest of them has carried all of a step's.
  Time busiest(const Traffic& traffic, const TrafficTimes& times) {
    carry_inner();
    carry_sends(traffic, times);
    for (const Declared& sum : traffic.tied_embeddings) carry(sum, 1, times);
    if (weight_copies(p_.s.parallelism) > 1) carry_data(traffic, times);
    return from_seconds(*std::ranges::max_element(seconds_) * (1 - kOfLoads));
  }

 private:
  void carry(const std::optional<Declared>& declared, std::int64_t runs, const TrafficTimes& times) {
    if (!declared) return;
    times.each_load(declared->communication, [&](const collectives::Timing::Load& load, double scale) {
      seconds_[topology::index(load.link)] += load.occupied * scale * static_cast<double>(runs) /
                                              workload::link_capacity(cluster_, nullptr, load.link).value;
    });
  }

  void carry_inner() {
    // Stages at one place in unlike nodes share what they were timed to take, with the links of the first of them.
    for (std::size_t stage = 0; stage < p_.loads.size(); ++stage) {
      const auto first = p_.loads.begin(), own = first + static_cast<std::ptrdiff_t>(stage);
      if (std::find(first, own, *own) != own) continue;
      for (const InnerLoads::OnLink& each : p_.loads[stage]->links())
        seconds_[topology::index(each.link)] +=
            std::inner_product(each.seconds.begin(), each.seconds.end(), p_.runs[stage].begin(), 0.0);
    }
  }

  void carry_sends(const Traffic& traffic, const TrafficTimes& times) {
    for (std::uint32_t stage = 0; stage < p_.shape.stages && p_.shape.stages > 1; ++stage)
      for (std::uint32_t v = 0; v < p_.shape.virtual_stages; ++v)
        for (const bool forward : {true, false})
          if (sends(p_, {stage, v}, forward))
            carry(traffic.sends[stage][goes_down(p_.shape, v) == forward ? 0 : 1], course_.visits(stage, v), times);
  }

  void carry_data(const Traffic& traffic, const TrafficTimes& times) {
    const Scenario& s = p_.s;
    for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage) {
      const DataPlan& plan = traffic.data[stage];
      carry(plan.whole, 1, times);
      if (s.training.optimizer != Optimizer::none) carry(plan.spread, 1, times);
      for (std::uint32_t v = 0; v < plan.buckets.size(); ++v) {
        for (const Declared& sum : plan.buckets[v])
          carry(sum, sums_each_micro_batch(s) ? course_.visits(stage, v) : 1, times);
        if (v >= plan.gathers.size()) continue;
        for (const Gathers& gathers :
             plan.gathers[v]) {  // at least for the forward passes, and where it is trained back
          const bool back = !plan.buckets[v].empty() && s.training.frozen_layers == 0;
          carry(gathers.ahead, course_.visits(stage, v) * (back ? 2 : 1), times);
          carry(gathers.rest, course_.visits(stage, v) * (back ? 2 : 1), times);
        }
      }
    }
  }

  const Passes& p_;
  const Course& course_;
  const topology::Cluster& cluster_;
  std::vector<double> seconds_;  ///< that each is busy, by LinkId
};

/// Sends between stages, and what they keep the GPU from where nothing runs beside them.
void add_sends(Course& course, const Passes& passes, const Traffic& traffic, const InStep& in_step) {
  for (std::uint32_t stage = 0; stage < passes.shape.stages && passes.shape.stages > 1; ++stage) {
    const Time down = in_step.least({&traffic.sends[stage][0]}), up = in_step.least({&traffic.sends[stage][1]});
    course.send(stage, down, up);
    if (pipeline_overlap(passes.s)) continue;
    Time all{};
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      for (const bool forward : {true, false})
        if (sends(passes, {stage, v}, forward))
          all += (goes_down(passes.shape, v) == forward ? down : up) * course.visits(stage, v);
    const Time last = std::max(down, up);  // it is part of the way back
    if (all > last) course.between(stage, all - last);
  }
}

/// What traffic inside layers loads, by stage. `loads`: what is known of it.
void add_inner_loads(Passes& passes, Course& course, const Plan& plan, LayerTimes::Timed& timed,
                     StepBound::LoadsOfKinds& loads, const topology::Cluster& cluster) {
  if (passes.s.cluster.other) return;
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    const std::vector<PieceTimes::TimedPiece>& kinds = timed.pieces.at({0, 0, stage});
    const InnerLoads& of_stage = loads.try_emplace(&kinds, kinds, cluster).first->second;
    std::vector<double>& runs = passes.runs.emplace_back(kinds.size(), 0);
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      for (const std::uint32_t place : places({&plan.staged.chunks[stage][v], 1}))
        runs[plan.staged.models.front().order[place]] += static_cast<double>(course.visits(stage, v));
    passes.loads.push_back(&of_stage);
    course.beside(stage, from_seconds(of_stage.busiest(runs) * (1 - kOfLoads)));
  }
}

bool has_updates_after_flush(const Plan& plan) { return plan.staged.pipeline.updates == Updates::after_flush; }

/// Whether each group may go its own way, if some take unlike times.
bool may_stand_alone(const Scenario& s) { return s.cluster.gpus <= kMostUnfoldedGpus; }

Passes passes_of(const Scenario& s, const Plan& plan, LayerTimes::Timed& timed) {
  Passes passes{s, plan.staged.pipeline.shape, {}, {}};
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  const bool kernels_alone = s.cluster.other || schedule == nullptr || schedule->runs_together;
  const std::uint32_t last = s.cluster.other ? weight_copies(s.parallelism) - 1 : 0;
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    timed.pieces.at({0, 0, stage});
    timed.pieces.at({0, last, stage});
  }
  passes.stand_alone = !timed.pieces.alike() && may_stand_alone(s);
  PieceTimes& pieces = passes.stand_alone && !kernels_alone ? timed.least() : timed.pieces;
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    const OnStage kinds{pieces.at({0, 0, stage}), pieces.at({0, last, stage})};
    std::vector<ChunkTimes>& chunks = passes.chunks.emplace_back();
    for (const BlockRange& range : plan.staged.chunks[stage])
      chunks.push_back(times_of(s, plan.staged.models.front(), range, kinds, kernels_alone));
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
  Passes passes = passes_of(s, plan, own);
  Course course = course_of(passes, plan);
  // Else they are in the times of passes.
  if (has_updates_after_flush(plan) && passes.stand_alone)
    add_inner_loads(passes, course, plan, own, loads_, times_.machine().cluster());
  return course.least();
}

Time StepBound::with_traffic(const Scenario& s, const Plan& plan) {
  if (unbounded(s)) return {};
  LayerTimes::Timed& own = times_.of(s, plan);
  Passes passes = passes_of(s, plan, own);
  Course course = course_of(passes, plan);
  if (!has_updates_after_flush(plan)) return course.least();
  const topology::Cluster& cluster = times_.machine().cluster();
  add_inner_loads(passes, course, plan, own, loads_, cluster);
  if (copies(passes.shape) > 1 || s.cluster.other) return course.least();
  StepInput input{
      s,         times_.machine(), own.ranks, plan.staged.models.front(), &plan.staged.pipeline, plan.staged.chunks,
      own.pieces};
  const Traffic traffic = declare_traffic(input, LaneGroups(passes.shape, own.ranks, false));
  TrafficTimes times(traffic.communications, times_.machine().timer());
  const bool stand_alone = may_stand_alone(s) && (!own.pieces.alike() || !times.alike());
  if (stand_alone) times.stand_alone();
  InStep in_step(times, cluster);
  if (stand_alone) in_step.find(passes, plan, own.ranks, traffic);
  add_sends(course, passes, traffic, in_step);
  if (weight_copies(s.parallelism) > 1) DataTraffic(passes, traffic, times, in_step).add_to(course);
  return std::max(course.least(), Links(passes, course, cluster).busiest(traffic, times));
}

}  // namespace stepcast::search
