#include "search/bound.h"

#include <algorithm>
#include <span>
#include <vector>

#include "models/layers/frozen.h"
#include "models/layers/recompute_groups.h"
#include "schedules/checks/too_large.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/forecast.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"
#include "schedules/pipeline/planned.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/traffic.h"
#include "schedules/step/weight_updates.h"
#include "search/course.h"
#include "search/in_step.h"
#include "search/step_links.h"
#include "search/traffic_times.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// What of a pass surely takes the GPU's time. `kernels_alone`: traffic in it may hide, or take less than when all
/// groups ask at once. While the GPU waits for a host that has waited for it, data traffic goes on and another pass's
/// kernels may run: that is not counted.
Time least(const PassTime& pass, bool kernels_alone) {
  const Time of_host = pass.host.ahead ? Time{} : pass.exposed_host;
  return kernels_alone ? pass.compute + of_host : pass.duration - pass.exposed_host + of_host;
}

/// Whether hosts hold up passes one by one; else they run ahead of the GPU.
bool host_runs_ahead(const Scenario& s) {
  const bool waits_for_sends =
      s.software.pipeline_sync && !schedules::pipeline_overlap(s) && s.parallelism.pipeline > 1;
  return !s.software.launch_blocking && s.software.cuda_graphs != CudaGraphs::step && !waits_for_sends;
}

/// The same on a GPU that is so slow. Behind its kernels, which take longer, may hide what was exposed.
Time least_on_slow_gpu(const PassTime& pass, bool kernels_alone, double speed) {
  return std::max(least(pass, kernels_alone), from_seconds(to_seconds(pass.compute) / speed * kSurelyCarried));
}

/// `kinds`: the blocks of the model on a rank that has the range. `slow`: its GPU is slower than it should be.
ChunkTimes times_of(const Scenario& s, const Blocks& blocks, const BlockRange& range,
                    const std::vector<PieceTimes::TimedPiece>& kinds, bool kernels_alone, bool slow) {
  ChunkTimes times;
  const auto lasts = [&](const PassTime& pass) {
    return slow ? least_on_slow_gpu(pass, kernels_alone, s.imperfections.gpu_speed) : least(pass, kernels_alone);
  };
  for (const std::uint32_t place : places({&range, 1})) {
    const Piece& piece = kinds[blocks.order[place]].piece;
    times.forward += lasts(piece.forward);
    times.backward += lasts(piece.backward);
    times.weight += lasts(piece.weight);
    times.host += piece.forward.host.time + piece.backward.host.time + piece.weight.host.time;
    times.kernels += piece.forward.compute + piece.backward.compute + piece.weight.compute;
  }
  times.host += on_host(s.software, s.software.host_per_pass) * 2;
  return times;
}

Time update_of(const Scenario& s, const Plan& plan, std::uint32_t stage, const Gpu& gpu) {
  if (s.training.optimizer == Optimizer::none) return {};
  Time update = on_host(s.software, s.software.host_per_step);
  if (s.offload.optimizer != Tier::gpu) return update;
  const Held trained = trained_held(*plan.staged.models.front(), plan.staged.chunks[stage]);
  return update + update_time(s, gpu, trained, copies(plan.staged.pipeline->shape));
}

/// The times of a plan's data-parallel traffic that nothing can hide, added to its course. Where stages hold two copies
/// of the model, or never drain, nothing is.
class DataTraffic {
 public:
  DataTraffic(const Passes& passes, const Traffic& traffic, const TrafficTimes& times, const InStep& in_step)
      : p_(passes), s_(passes.s), traffic_(traffic), times_(times), in_step_(in_step) {}

  /// Of the first so many stages.
  void add_to(Course& course, std::uint32_t stages) const {
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
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
        const std::int64_t times = gathered(piece, trains);
        const Time here = alone(plan.gathers[v][i].rest), ahead = alone(plan.gathers[v][i].ahead);
        first = std::max(first, here);
        rest += here * times;
        both += (here + ahead) * times;
      }
      between += rest * course.visits(stage, v);
      all += both * course.visits(stage, v);
    }
    if (between > first) course.between(stage, between - first);  // the first may come while the stage waits to begin
    course.beside(stage, all + p_.update[stage]);
    add_slowed_kernels(course, stage, plan, all);
  }

  /// How often a piece's parameters are gathered for a micro-batch: forward, back, and to recompute where that is
  /// apart.
  std::int64_t gathered(const Piece& piece, bool trains) const {
    const bool back = trains && (piece.backward.duration > Time{} || piece.trained > 0);
    const bool anew = s_.software.gather_for_recompute && piece.recompute.duration > Time{};
    return 1 + (back ? 1 : 0) + (back && anew ? 1 : 0);
  }

  /// Traffic beside kernels takes a share of their GPU (workload::Program::communicate), which has no more than itself.
  /// `gathers`: all of a step's. While no kernels run, gathers and sums may both run and slow nothing: so long as
  /// traffic takes no more than half of the GPU, the step is shortest with as little such time as there must be.
  void add_slowed_kernels(Course& course, std::uint32_t stage, const DataPlan& plan, Time gathers) const {
    const PipelineSchedule* schedule = find_pipeline(s_.pipeline.schedule);
    if (!data_overlap(s_) || schedule == nullptr || schedule->runs_together || begins_frozen(s_.training)) return;
    Time traffic = gathers, kernels{};
    for (std::uint32_t v = 0; v < p_.shape.virtual_stages; ++v) {
      kernels += p_.chunks[stage][v].kernels * course.visits(stage, v);
      if (v < plan.buckets.size() && !plan.whole)
        traffic += alone(plan.buckets[v]) * (sums_each_micro_batch(s_) ? course.visits(stage, v) : 1);
    }
    const Time other = course.head(stage) + course.busy(stage) - kernels + p_.update[stage];
    const Time beside = std::max(traffic - other * 2, Time{});
    const double slowed = to_seconds(kernels) + std::min(s_.software.overlap_slowdown, 0.5) * to_seconds(beside);
    course.beside(stage, other + from_seconds(slowed * kSurelyCarried));
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
  return s.data_parallel.mode == DataParallelMode::parameter_server || s.imperfections.jitter > 0 ||
         s.data_parallel.consistency != Consistency::bulk_synchronous || s.data_parallel.local_steps > 1;
}

/// Sends between stages, and what they keep the GPU from where nothing runs beside them.
void add_sends(Course& course, const Passes& passes, const Traffic& traffic, const InStep& in_step) {
  for (std::uint32_t stage = 0; stage < passes.shape.stages && passes.shape.stages > 1; ++stage) {
    const Time down = in_step.least({&traffic.sends[stage][0]}), up = in_step.least({&traffic.sends[stage][1]});
    course.send(stage, down, up);
    if (pipeline_overlap(passes.s)) continue;
    Time all{};
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      for (const bool forward : {true, false})
        if (passes.sends({stage, v}, forward))
          all += (goes_down(passes.shape, v) == forward ? down : up) * course.visits(stage, v);
    const Time last = std::max(down, up);  // it is part of the way back
    if (all > last) course.between(stage, all - last);
  }
}

/// What traffic inside layers loads, by stage. `loads`: what is known of it.
void add_inner_loads(Passes& passes, Course& course, const Plan& plan, LayerTimes::TimedLayers& timed,
                     StepBound::LoadsOfKinds& loads, std::span<const Bandwidth> capacities) {
  if (passes.s.cluster.other) return;  // each kind's timings load links as if all GPUs were of it
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    const std::vector<PieceTimes::TimedPiece>& kinds = timed.pieces.at({0, 0, stage});
    const InnerLoads& of_stage = loads.try_emplace(&kinds, kinds, capacities).first->second;
    std::vector<double>& runs = passes.runs.emplace_back(kinds.size(), 0);
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      for (const std::uint32_t place : places({&plan.staged.chunks[stage][v], 1}))
        runs[plan.staged.models.front()->order[place]] += static_cast<double>(course.visits(stage, v));
    passes.loads.push_back(&of_stage);
    course.beside(stage, from_seconds(of_stage.busiest(runs) * kSurelyCarried));
  }
}

bool has_updates_after_flush(const Plan& plan) { return plan.staged.pipeline->updates == Updates::after_flush; }

/// Whether each group may go its own way, if some take unlike times, or some ranks are late.
bool may_stand_alone(const Scenario& s) { return s.cluster.gpus <= kMostUnfoldedGpus || every_rank_differs(s); }

/// Whether nothing is bounded of the plans of a layout all together.
bool layers_unbounded(const Scenario& s) {
  return unbounded(s) || s.cluster.other || s.model.family == Family::t5 || recomputes_in_groups(s);
}

/// What a stage is busy at least that has no less than an even share of the model. `of_kinds`: what each kind of block
/// takes for a micro-batch.
Time even_share(const Scenario& s, const Blocks& blocks, std::span<const Time> of_kinds) {
  Time model{};
  for (const std::uint32_t kind : blocks.order) model += of_kinds[kind];
  return Time{(model * micro_batches(s)).value / s.parallelism.pipeline};
}

/// The replicas of the model that are bounded: one on each of two kinds of GPUs, which have the first and the last, and
/// the one that has a slow GPU. Else all are alike.
std::vector<std::uint32_t> bounded_replicas(const Scenario& s, const Ranks& ranks) {
  std::vector<std::uint32_t> replicas;
  const auto add = [&](std::uint32_t replica) {
    if (std::ranges::find(replicas, replica) == replicas.end()) replicas.push_back(replica);
  };
  if (s.imperfections.slow_gpu) add(ranks.coordinate(*s.imperfections.slow_gpu).data);
  if (replicas.empty() || s.cluster.other) add(0);
  if (s.cluster.other) add(weight_copies(s.parallelism) - 1);
  return replicas;
}

std::vector<Passes> passes_of(const Scenario& s, const Plan& plan, LayerTimes::TimedLayers& timed) {
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  const bool kernels_alone = schedule == nullptr || schedule->runs_together;
  const Shape& shape = plan.staged.pipeline->shape;
  const std::vector<std::uint32_t> replicas = bounded_replicas(s, timed.ranks);
  for (const std::uint32_t replica : replicas)
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) timed.pieces.at({0, replica, stage});
  const bool stand_alone = (!timed.pieces.alike() || every_rank_differs(s)) && may_stand_alone(s);
  PieceTimes& pieces = stand_alone && !kernels_alone ? timed.least() : timed.pieces;
  std::optional<Coordinate> slow;
  if (s.imperfections.slow_gpu) slow = timed.ranks.coordinate(*s.imperfections.slow_gpu);
  std::vector<Passes> all;
  for (const std::uint32_t replica : replicas) {
    Passes& passes = all.emplace_back(Passes{s, shape, {}, {}, stand_alone});
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      const Coordinate at{0, replica, stage};
      const bool is_slow = slow && slow->data == replica && slow->stage == stage;
      std::vector<ChunkTimes>& chunks = passes.chunks.emplace_back();
      for (const BlockRange& range : plan.staged.chunks[stage])
        chunks.push_back(times_of(s, *plan.staged.models.front(), range, pieces.at(at), kernels_alone, is_slow));
      passes.update.push_back(update_of(s, plan, stage, gpu_of(s.cluster, timed.ranks.gpu(at))));
    }
  }
  return all;
}

Course course_of(const Passes& passes, const Plan& plan) {
  Course course(passes, plan.staged.pipeline->updates);
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

/// What stages run kernels in the mean, those of the update among them.
Time kernels_of(const Passes& passes, const Course& course) {
  const Scenario& s = passes.s;
  if (s.cluster.other) return {};  // a report is of some of its GPUs
  const bool updates = s.training.optimizer != Optimizer::none;
  Time all{};
  for (std::uint32_t stage = 0; stage < passes.shape.stages; ++stage) {
    if (updates) all += passes.update[stage] - on_host(s.software, s.software.host_per_step);
    for (std::uint32_t v = 0; v < passes.shape.virtual_stages; ++v)
      all += passes.chunks[stage][v].kernels * course.visits(stage, v);
  }
  return {all.value / passes.shape.stages};
}

}  // namespace

Time StepBound::of_kernels(const Scenario& s, SharedParts& parts) {
  if (layers_unbounded(s)) return {};
  auto nothing = std::make_shared<const collectives::Timing>();
  const TensorTimer no_time = [&](const TensorCollective&) { return nothing; };
  const std::shared_ptr<const Blocks> blocks = parts.model(s);
  const Ranks ranks(s.parallelism, s.cluster.node.gpus);
  std::vector<Time> of_kinds;
  for (const Block& block : blocks->kinds) {
    Time& all = of_kinds.emplace_back();
    for (const Kernels* kernels : {&block.forward, &block.recompute, &block.backward})
      all += pass_time(*kernels, cost_of(s, ranks, block), no_time).compute;
  }
  return even_share(s, *blocks, of_kinds);
}

Time StepBound::of_layers(const Scenario& s, const workload::Machine& machine, SharedParts& parts) {
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  if (layers_unbounded(s) || may_stand_alone(s) || schedule == nullptr || schedule->runs_together)
    return of_kernels(s, parts);
  const std::shared_ptr<const Blocks> blocks = parts.model(s);
  const Ranks ranks(s.parallelism, machine.cluster().gpus_per_node(), machine.cluster().fabric_may_block());
  PieceTimes pieces(s, *blocks, ranks, machine.timer(), true, planned_shape(s, micro_batches(s)).splits_backward, {},
                    nullptr, SiblingTime::bound);
  std::vector<Time> of_kinds;  // on the stage where each takes least
  for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage) {
    const std::vector<PieceTimes::TimedPiece>& here = pieces.at({0, 0, stage});
    for (std::size_t kind = 0; kind < here.size(); ++kind) {
      const Piece& piece = here[kind].piece;
      const Time time = piece.forward.duration + piece.backward.duration + piece.weight.duration;
      if (kind == of_kinds.size())
        of_kinds.push_back(time);
      else
        of_kinds[kind] = std::min(of_kinds[kind], time);
    }
  }
  return even_share(s, *blocks, of_kinds);
}

LeastStep StepBound::of_passes(const Scenario& s, const Plan& plan) {
  if (unbounded(s)) return {};
  LayerTimes::TimedLayers& own = times_.of(s, plan);
  LeastStep most;
  for (Passes& passes : passes_of(s, plan, own)) {
    Course course = course_of(passes, plan);
    // Else they are in the times of passes.
    if (has_updates_after_flush(plan) && passes.stand_alone)
      add_inner_loads(passes, course, plan, own, loads_, times_.machine().link_capacities());
    most.time = std::max(most.time, course.least());
    most.kernels = kernels_of(passes, course);
  }
  return most;
}

std::optional<Time> StepBound::with_least_traffic(const Scenario& s, const Plan& plan) {
  if (may_stand_alone(s)) return std::nullopt;
  return with(TrafficTimes::TimeWanted::least, s, plan);
}

Time StepBound::with(TrafficTimes::TimeWanted answer, const Scenario& s, const Plan& plan) {
  if (unbounded(s)) return {};
  LayerTimes::TimedLayers& own = times_.of(s, plan);
  std::vector<Passes> replicas = passes_of(s, plan, own);
  const std::vector<Bandwidth>& capacities = times_.machine().link_capacities();
  std::vector<Course> courses;
  for (Passes& passes : replicas) {
    Course& course = courses.emplace_back(course_of(passes, plan));
    if (has_updates_after_flush(plan)) add_inner_loads(passes, course, plan, own, loads_, capacities);
  }
  Time most{};
  if (!has_updates_after_flush(plan) || copies(plan.staged.pipeline->shape) > 1) {
    for (const Course& course : courses) most = std::max(most, course.least());
    return most;
  }
  StepInput input{s,
                  times_.machine(),
                  own.ranks,
                  *plan.staged.models.front(),
                  plan.staged.pipeline.get(),
                  plan.staged.chunks,
                  own.pieces};
  const Traffic traffic = declare_traffic(input, LaneGroups(replicas.front().shape, own.ranks, false));
  TrafficTimes times(traffic.communications, times_.machine().timer(), answer);
  const bool late = every_rank_differs(s);
  const bool stand_alone = may_stand_alone(s) && (late || !own.pieces.alike() || !times.alike());
  if (stand_alone) times.stand_alone(late);
  InStep in_step(times, capacities);
  if (stand_alone && !late) in_step.find(s, plan, own.ranks, traffic);
  const bool first_stage_alone = answer == TrafficTimes::TimeWanted::least;
  for (std::size_t replica = 0; replica < replicas.size(); ++replica) {
    const Passes& passes = replicas[replica];
    Course& course = courses[replica];
    if (!first_stage_alone) add_sends(course, passes, traffic, in_step);
    if (weight_copies(s.parallelism) > 1)
      DataTraffic(passes, traffic, times, in_step).add_to(course, first_stage_alone ? 1 : passes.shape.stages);
    most = std::max(most, course.least());
    if (!first_stage_alone) most = std::max(most, StepLinks(passes, course, capacities).busiest(traffic, times));
  }
  return most;
}

}  // namespace stepcast::search
