#include "search/layouts/held_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>

#include "models/layers/model_blocks.h"
#include "search/layouts/nearest_scenario.h"
#include "search/layouts/stages.h"
#include "search/layouts/unsplit.h"
#include "sim/input_error.h"

namespace stepcast::search {

using namespace schedules;

namespace {

std::string mesh_text(MeshShape shape) { return fmt::format("{}x{}", shape.rows, shape.columns); }

/// Sums to what the whole has, or says what would.
void check_sum(std::span<const HeldStage> stages, std::uint32_t HeldStage::*of, std::uint32_t whole,
               std::string_view found, std::string_view expected, const std::string& option) {
  std::uint64_t all = 0;
  for (const HeldStage& stage : stages) all += stage.*of;
  if (all == whole) return;
  const std::uint64_t others = all - stages.back().*of;
  const std::string nearest =
      others < whole ? fmt::format("; the last stage would have {}", whole - others) : std::string();
  throw InputError(option, fmt::format("found {} {} in all, expected {} {}{}", all, found, expected, whole, nearest));
}

void check_size(std::uint32_t gpus, const std::vector<std::uint32_t>& sizes, std::size_t stage,
                const std::string& option) {
  if (std::ranges::find(sizes, gpus) != sizes.end()) return;
  const auto distance = [&](std::uint32_t size) { return size > gpus ? size - gpus : gpus - size; };
  throw InputError(option, fmt::format("found {} GPUs of stage {}, expected one of {}; the nearest: {}", gpus, stage,
                                       fmt::join(sizes, ", "), *std::ranges::min_element(sizes, {}, distance)));
}

void check_mesh(const HeldStage& held, std::uint32_t gpus_per_node, std::int64_t samples, std::size_t stage,
                const std::string& option) {
  if (!held.mesh.shape) return;
  const std::vector<MeshShape> shapes = mesh_shapes(held.gpus, gpus_per_node);
  if (std::ranges::find(shapes, *held.mesh.shape) == shapes.end()) {
    std::vector<std::string> words;
    for (const MeshShape shape : shapes) words.push_back(mesh_text(shape));
    throw InputError(option, fmt::format("found mesh {} of stage {}, expected one of {} for its {} GPUs",
                                         mesh_text(*held.mesh.shape), stage, fmt::join(words, ", "), held.gpus));
  }
  const SampleAxes axes = held.mesh.samples.value_or(SampleAxes::none);
  const std::uint32_t ways = axes == SampleAxes::none   ? 1
                             : axes == SampleAxes::rows ? held.mesh.shape->rows
                                                        : held.gpus;
  if (samples % ways != 0)
    throw InputError(option, fmt::format("found {} GPUs of stage {} that share samples, expected a divisor of the {} "
                                         "samples of a micro-batch",
                                         ways, stage, samples));
}

void check_stages(std::span<const HeldStage> stages, const Scenario& whole, const Blocks& blocks,
                  std::uint32_t gpus_per_node, const std::string& option) {
  const std::vector<std::uint32_t> sizes = stage_sizes(gpus_per_node, whole.cluster.gpus);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    check_size(stages[i].gpus, sizes, i, option);
    check_mesh(stages[i], gpus_per_node, whole.training.micro_batch, i, option);
  }
  check_sum(stages, &HeldStage::layers, count_layers(blocks), "layers", "the model's", option);
  check_sum(stages, &HeldStage::gpus, whole.cluster.gpus, "GPUs", "the cluster's", option);
}

}  // namespace

HeldPlan held_layout_plan(const Scenario& scenario, std::span<const HeldStage> stages, const std::string& option,
                          ProgramSolver solver, workload::Machines& machines) {
  const Scenario whole = unsplit(scenario);
  LayoutPlan plan;
  plan.blocks = blocks(whole);
  const auto machine = machines.of(machine_of(scenario));
  check_stages(stages, whole, plan.blocks, machine->cluster().gpus_per_node(), option);
  std::vector<std::uint32_t> layers;
  for (const HeldStage& stage : stages) layers.push_back(stage.layers);
  plan.groups = static_cast<std::uint32_t>(layers.size());
  const std::vector<BlockRange> ranges = cut(plan.blocks, with_head_last(layers));
  std::map<HeldMesh, RunSearch> searches;
  std::vector<Time> times;
  HeldPlan out;
  for (std::uint32_t i = 0; i < stages.size(); ++i) {
    RunSearch& runs = searches
                          .try_emplace(stages[i].mesh, whole, plan.blocks, *machine, solver,
                                       scenario.parallelism.sequence, stages[i].mesh)
                          .first->second;
    const std::uint32_t held = micro_batches_held(plan.groups - i, micro_batches(scenario));
    if (const auto& best = runs.best(ranges[i], stages[i].gpus, held)) {
      plan.stages.push_back({ranges[i], stages[i].layers, held, *best});
      times.push_back(best->time);
    } else {
      out.shortages.push_back({i, runs.missing(ranges[i], stages[i].gpus, held)});
    }
  }
  if (!out.shortages.empty()) return out;
  plan.time = pipeline_time(times, micro_batches(scenario));
  for (const auto& [mesh, runs] : searches) plan.programs += runs.programs();
  plan.scenario = nearest_scenario(scenario, plan.stages);
  out.plan = std::move(plan);
  return out;
}

}  // namespace stepcast::search
