#include "search/layouts/layouts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/layers/model_blocks.h"
#include "schedules/pass_times/chunks.h"
#include "search/layouts/nearest_scenario.h"
#include "search/layouts/stages.h"
#include "search/layouts/unsplit.h"
#include "sim/input_error.h"

namespace stepcast::search {

using namespace schedules;

namespace {

/// What a block's kernels take on one device.
Time kernels_time(const Scenario& s, const Block& block) {
  const KernelCost cost = cost_of(s);
  Time all{};
  for (const Kernels* pass : {&block.forward, &block.backward})
    for (const Kernel& kernel : *pass) all += cost.time(kernel);
  return all;
}

/// Layers of groups that stages do not split, each about as long as every other (the same, sec. 5.2, clusters operators
/// to layers likewise): a group ends where the layers so far have come closest to its share of the kernels' time.
std::vector<std::uint32_t> grouped(const Scenario& s, const Blocks& blocks, std::uint32_t most) {
  std::vector<Time> kinds;
  for (const Block& block : blocks.kinds) kinds.push_back(kernels_time(s, block));
  std::vector<double> until{0};
  for (const std::uint32_t kind : blocks.order)
    if (blocks.kinds[kind].layer) until.push_back(until.back() + to_seconds(kinds[kind]));
  const auto layers = static_cast<std::uint32_t>(until.size() - 1), groups = std::min(most, layers);
  std::vector<std::uint32_t> out;
  std::uint32_t first = 0;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const double share = until.back() * (group + 1) / groups;
    std::uint32_t end = first + 1;
    while (end < layers - (groups - group - 1) && until[end + 1] - share < share - until[end]) ++end;
    if (group + 1 == groups) end = layers;
    out.push_back(end - first);
    first = end;
  }
  return out;
}

std::uint32_t most_groups(const Scenario& s, const LayoutOptions& options) {
  constexpr std::uint32_t kGroups = 32;
  return options.groups.value_or(std::max({kGroups, s.parallelism.pipeline, options.stages.value_or(1)}));
}

std::vector<std::uint32_t> sizes_of(const Scenario& s, const workload::Machine& machine, const LayoutOptions& options) {
  const std::uint32_t gpus = s.cluster.gpus;
  if (!options.mesh) return stage_sizes(machine.cluster().gpus_per_node(), gpus);
  const std::uint32_t own = options.mesh->devices();
  if (gpus % own != 0)
    throw InputError("--mesh", "found " + std::to_string(own) + " GPUs, expected a divisor of the cluster's " +
                                   std::to_string(gpus));
  return {own};
}

}  // namespace

std::optional<LayoutPlan> best_layout_plan(const Scenario& scenario, const LayoutOptions& options, ProgramSolver solver,
                                           workload::Machines& machines) {
  const Scenario whole = unsplit(scenario);
  LayoutPlan plan;
  plan.blocks = blocks(whole);
  const auto machine = machines.of(machine_of(scenario));
  const std::vector<std::uint32_t> sizes = sizes_of(scenario, *machine, options),
                                   groups = grouped(whole, plan.blocks, most_groups(scenario, options));
  plan.groups = static_cast<std::uint32_t>(groups.size());
  if (options.stages && *options.stages > plan.groups)
    throw InputError("--stages", "found " + std::to_string(*options.stages) + ", expected at most the " +
                                     std::to_string(plan.groups) + " groups of layers");
  const std::vector<BlockRange> ranges = cut(plan.blocks, with_head_last(groups));
  const auto run_of = [&](std::uint32_t first, std::uint32_t count) {
    BlockRange run{ranges[first].first, 0};
    for (std::uint32_t group = first; group < first + count; ++group) run.count += ranges[group].count;
    return run;
  };
  RunSearch runs(whole, plan.blocks, *machine, solver, scenario.parallelism.sequence, {.shape = options.mesh});
  const StageProblem problem{
      .layers = plan.groups,
      .devices = scenario.cluster.gpus,
      .sizes = sizes,
      .micro_batches = micro_batches(scenario),
      .stages = options.stages,
      .bound = [&](std::uint32_t first, std::uint32_t count, std::uint32_t size,
                   std::uint32_t held) { return runs.bound(run_of(first, count), sizes[size], held); },
      .time = [&](std::uint32_t first, std::uint32_t count, std::uint32_t size,
                  std::uint32_t held) -> std::optional<Time> {
        const auto& best = runs.best(run_of(first, count), sizes[size], held);
        if (!best) return std::nullopt;
        return best->time;
      }};
  const std::optional<CutStages> cut_stages = best_stages(problem);
  if (!cut_stages) return std::nullopt;
  plan.time = cut_stages->time;
  for (const CutStage& stage : cut_stages->stages) {
    const BlockRange run = run_of(stage.first, stage.count);
    std::uint32_t layers = 0;
    for (std::uint32_t group = stage.first; group < stage.first + stage.count; ++group) layers += groups[group];
    plan.stages.push_back({run, layers, stage.held, *runs.best(run, sizes[stage.size], stage.held)});
  }
  plan.programs = runs.programs();
  plan.scenario = nearest_scenario(scenario, plan.stages);
  return plan;
}

}  // namespace stepcast::search
