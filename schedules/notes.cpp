#include "schedules/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/layers/blocks.h"
#include "models/layers/frozen.h"
#include "models/layers/model_blocks.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"
#include "schedules/plan/kinds.h"
#include "sim/units_text.h"
#include "topology/cluster.h"
#include "topology/fabrics.h"
#include "topology/leaf_traffic.h"

namespace stepcast::schedules {
namespace {

bool two_copies(const PipelinePlan& plan) { return placement_of(plan) == Placement::opposite; }

std::string each_micro_batch(const Scenario& s) {
  const std::uint32_t m = micro_batches(s);
  return m == 1 ? "once a step" : "for each of " + std::to_string(m) + " micro-batches";
}

/// Bytes on the wire of the smallest layer's gradients, of one tensor rank.
Bytes smallest_gradients(const Scenario& s) {
  double least = 0;
  for (const Block& block : blocks(s).kinds)
    if (const double trained = trained_parameters(block); block.layer && !block.frozen && trained > 0)
      least = least == 0 ? trained : std::min(least, trained);
  return {std::llround(least * static_cast<double>(element_bytes(gradient_precision(s))))};
}

void note_bucket(const Scenario& s, std::vector<Note>& out) {
  if (!s.data_parallel.bucket) return;
  const std::string key = "data_parallel.bucket";
  if (s.data_parallel.zero == 3) {
    out.push_back({key, "changes memory alone: ZeRO 3 sends every layer's gradients by themselves"});
  } else if (!data_overlap(s) && !sums_each_micro_batch(s)) {
    out.push_back({key, "changes no time: without overlap all gradients are summed at once, after the last backward"});
  } else if (const Bytes layer = smallest_gradients(s); *s.data_parallel.bucket < layer) {
    out.push_back(
        {key, "changes no time below a layer's gradients, " + text(layer) + ": a bucket is sent when a layer is done"});
  }
}

/// Keys of data-parallel ranks where there is one.
void note_one_data_rank(const Scenario& s, std::vector<Note>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  const auto idle = [&](bool said, const char* key) {
    if (said) out.push_back({key, "changes nothing: there is one data-parallel rank"});
  };
  // From 2 on it says where gradients go that are offloaded, and with 3 parameters come and go, on one rank too.
  idle(plan.zero == 1 || (plan.zero == 2 && !s.offload.any()), "data_parallel.zero");
  idle(plan.bucket.has_value(), "data_parallel.bucket");
  idle(plan.overlap.has_value(), "data_parallel.overlap");
  idle(plan.sum_once.has_value() && plan.zero >= 2, "data_parallel.sum_once");
  idle(plan.gradient_precision.has_value(), "data_parallel.gradient_precision");
  idle(plan.compression.any(), "data_parallel.compression");
}

/// Keys of what is not done.
void note_undone(const Scenario& s, std::vector<Note>& out) {
  const OffloadPlan& offload = s.offload;
  if (offload.adam_rate != OffloadPlan{}.adam_rate && offload.optimizer == Tier::gpu)
    out.push_back({"offload.adam_rate", "changes nothing: the GPUs update the parameters"});
  if (!offload.overlap && !offload.any()) out.push_back({"offload.overlap", "changes nothing: nothing is offloaded"});
  const ExpertLoad& load = s.training.expert_load;
  if (load.seed != ExpertLoad{}.seed && load.spread == 0)
    out.push_back({"training.experts.seed", "changes nothing: without a spread no loads of experts are drawn"});
}

/// Busy experts hold the others' ranks up, unless all get as many tokens. Measured with routing forced even and as it
/// was learned: github.com/yanring/Megatron-MoE-ModelZoo @e865051, best_practice/qwen3/readme.md and mixtral
/// (docs/model.md, "Experts").
void note_even_routing(const Scenario& s, std::vector<Note>& out) {
  const ExpertLoad& load = s.training.expert_load;
  if (s.model.experts.count == 0 || s.parallelism.expert == 1 || load.capacity || load.spread > 0) return;
  out.push_back(
      {"training.experts.spread",
       std::string("0 gives every expert as many tokens, as benchmarks force a router to. Routers that learn "
                   "favour some, and the GPUs of these hold all others up in every layer: steps were measured "
                   "to take 5 to 24% longer") +
           (load.node_limit
                ? ""
                : "; a value above 0, the standard deviation of the experts' loads over their mean, counts that")});
}

/// Shares of samples are whole.
void note_balance(const Scenario& s, std::vector<Note>& out) {
  if (!s.training.balance) return;
  const TwoKinds sharing = sharing_of(s);
  if (has_unequal_shares(sharing)) return;
  out.push_back({"training.balance",
                 fmt::format("changes nothing: {} and {} data ranks can share {} samples in one way alone, {} each; a "
                             "larger training.micro_batch leaves more",
                             sharing.ranks[0], sharing.ranks[1], sharing.samples, s.training.micro_batch)});
}

/// Keys of stages where they do nothing, and what a schedule hides that few frameworks do.
void note_pipeline(const Scenario& s, std::vector<Note>& out) {
  const PipelinePlan& plan = s.pipeline;
  const PipelineSchedule* const schedule = find_pipeline(plan.schedule);
  const auto idle = [&](bool said, const char* key) {
    if (said) out.push_back({key, "changes nothing: there is one stage"});
  };
  idle(s.parallelism.pipeline == 1 && plan.embedding_as_layer, "pipeline.embedding_as_layer");
  idle(s.parallelism.pipeline == 1 && plan.head_as_layer, "pipeline.head_as_layer");
  if (plan.schedule == "interleaved-1f1b" && plan.virtual_stages == 1)
    out.push_back(
        {"pipeline.schedule", "interleaved-1f1b with one virtual stage is 1f1b; say pipeline.virtual_stages"});
  const bool sends_inside = s.parallelism.tensor > 1 || s.parallelism.context > 1;
  if (schedule != nullptr && schedule->runs_together && sends_inside && expert_ranks(s.parallelism) == 1)
    out.push_back({"pipeline.schedule",
                   plan.schedule +
                       " runs a forward beside a backward, so that each hides what the other sends among tensor "
                       "and context ranks; frameworks do so for experts alone"});
}

/// What of a run was not measured, or is of a whole run, which no step depends on.
void note_runs(const Scenario& s, std::vector<Note>& out) {
  if (s.measured.memory_is != Measured{}.memory_is && !s.measured.peak_memory)
    out.push_back({"measured.memory_is", "changes nothing: measured.peak_memory is not said"});
  const TrainingRun& run = s.run;
  if (!run.target_batch) return;
  if (!run.has_target())
    out.push_back(
        {"run.target_batch", "changes nothing: none of run.tokens, run.samples and run.epochs says the target"});
  else if (!run.critical_batch)
    out.push_back({"run.target_batch",
                   "changes nothing: without run.critical_batch the target takes as many samples whatever the batch"});
  else
    out.push_back({"run.target_batch", "changes no step: stepcast plan forecasts whole runs"});
}

/// Leaf switches that lead up too little matter where traffic goes up.
void note_oversubscription(const Scenario& s, std::vector<Note>& out) {
  const ClusterSpec& c = s.cluster;
  if (c.fabric.oversubscription == 1 || nodes_in_use(c) < 2) return;
  if (topology::stays_below_leaves(topology::build_cluster(c.node, c.fabric, c.gpus, c.allocation)))
    out.push_back({"cluster.fabric.oversubscription",
                   fmt::format("changes nothing: the {} nodes are on the same leaf switches, and no traffic goes above "
                               "them",
                               nodes_in_use(c))});
}

/// Over how many leaf switches the job is spread, and what has to go through which narrow place for that.
std::string where_nodes_are(const topology::JobSpread& spread) {
  std::string words =
      fmt::format("the job's {} nodes are on {} of {} leaf switches", spread.nodes, spread.leaves, spread.of_leaves);
  if (spread.fewest < spread.leaves) words += fmt::format("; {} could hold them", spread.fewest);
  if (spread.narrowest)
    words += fmt::format(
        "; {} of these lead up less than the job's network cards below them can send, {} the least: "
        "{} for {}",
        spread.narrow_leaves, spread.narrowest->name, text(spread.narrowest->up), text(spread.narrowest->below));
  else if (spread.leaves > 1)
    words += "; each leads up all that the job's network cards below it can send";
  return words;
}

}  // namespace

std::vector<Note> notes(const Scenario& s) {
  std::vector<Note> out;
  const bool sums = weight_copies(s.parallelism) > 1 || two_copies(s.pipeline);
  if (!sums && s.data_parallel.mode == DataParallelMode::all_reduce) note_one_data_rank(s, out);
  if (sums && s.data_parallel.zero == 3)
    out.push_back(
        {"data_parallel.zero",
         "3 is FSDP's full shard: a layer's parameters are gathered before forward" +
             std::string(s.software.gather_for_recompute && s.recompute == Recompute::full ? ", before it is repeated"
                                                                                           : "") +
             " and again before backward, " + each_micro_batch(s)});
  if (sums && s.data_parallel.zero == 2 && micro_batches(s) > 1 && sums_each_micro_batch(s))
    out.push_back({"data_parallel.zero", "2 sums gradients " + each_micro_batch(s) +
                                             "; sum_once: true keeps them whole and sums once a step"});
  if (s.data_parallel.sum_once && s.data_parallel.zero < 2)
    out.push_back({"data_parallel.sum_once", "changes nothing: zero 0 and 1 sum gradients once a step"});
  if (sums) note_bucket(s, out);
  if (s.parallelism.tensor == 1 && s.parallelism.sequence)
    out.push_back({"parallelism.sequence", "changes nothing: there is one tensor rank"});
  if (s.parallelism.tensor == 1 && s.parallelism.tensor_method)
    out.push_back({"parallelism.tensor_method", "changes nothing: there is one tensor rank"});
  if (s.cluster.fabric.seed != 0 && (s.cluster.gpus <= s.cluster.node.gpus || !hashes(s.cluster.fabric)))
    out.push_back({"cluster.fabric.seed", "changes nothing: no flow's path is drawn by a hash"});
  if (s.parallelism.context == 1 && s.parallelism.context_method != Parallelism{}.context_method)
    out.push_back({"parallelism.context_method", "changes nothing: there is one context rank"});
  note_balance(s, out);
  note_pipeline(s, out);
  note_undone(s, out);
  note_even_routing(s, out);
  note_runs(s, out);
  note_oversubscription(s, out);
  if (s.cluster.gpus > s.cluster.node.gpus && s.cluster.fabric.routing == "hash")
    out.push_back({"cluster.fabric.routing",
                   "hash spreads flows over equal paths by their ends (ECMP), and they may collide; adaptive never"});
  return out;
}

std::vector<Note> notes(const Forecast& forecast) {
  std::vector<Note> out;
  if (forecast.lowered)
    out.push_back({"--detail transfers", fmt::format("simulated {} tasks, of which {} are transfers",
                                                     forecast.lowered->tasks, forecast.lowered->transfers)});
  if (forecast.busiest_link && forecast.busiest_link->utilisation > 1)
    out.push_back(
        {"cluster",
         fmt::format("{} carries {:.0f} % of what it can: traffic inside layers passes other traffic there, so the "
                     "step is too short; --detail transfers lets them share it",
                     forecast.busiest_link->name, 100 * forecast.busiest_link->utilisation)});
  if (forecast.spread) out.push_back({"cluster.fabric", where_nodes_are(*forecast.spread)});
  return out;
}

}  // namespace stepcast::schedules
