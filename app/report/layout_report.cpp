#include "app/report/layout_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/text_table.h"
#include "schedules/results/quantities.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using schedules::Forecast;
using schedules::Parallelism;
using search::BlockLayouts;
using search::LayoutPlan;
using search::LayoutStage;
using search::MeshShape;

std::string shape_text(MeshShape shape) { return fmt::format("{}x{}", shape.rows, shape.columns); }

std::string_view unit_name(const LayoutPlan& plan, const BlockLayouts& block, const search::LayoutUnit& unit) {
  if (unit.kind == search::UnitKind::attention) return "attention";
  return schedules::name(plan.blocks.kinds[block.kind].operators[unit.first].kind);
}

/// "layer", and of several kinds of that name where in the model the first of them is: "unit 3".
std::string block_name(const LayoutPlan& plan, const BlockLayouts& block) {
  const schedules::Blocks& blocks = plan.blocks;
  const std::string_view name = blocks.kinds[block.kind].name;
  if (std::ranges::count(blocks.kinds, name, &schedules::Block::name) == 1) return std::string(name);
  const auto first = std::ranges::find(blocks.order, block.kind);
  return fmt::format("{} {}", name, first - blocks.order.begin());
}

/// A row for each unit of each kind of block.
std::string layouts_of_stage(const LayoutPlan& plan, const LayoutStage& stage) {
  std::string out;
  for (const BlockLayouts& block : stage.run.blocks) {
    out += fmt::format("  {}{}\n", block_name(plan, block),
                       block.count > 1 ? fmt::format(", {} of them", block.count) : "");
    TextTable table({{"", TextTable::Align::left}, {"", TextTable::Align::left}});
    for (std::size_t i = 0; i < block.units.size(); ++i)
      table.add({std::string(unit_name(plan, block, block.units[i])),
                 search::layout_text(block.chosen[i], block.units[i], stage.run.shape)});
    const std::string text = table.text("    ");
    out += text.substr(text.find('\n') + 1);
  }
  return out;
}

/// The layouts of all stages, those of consecutive stages that have the same once.
std::string layouts_of_stages(const LayoutPlan& plan) {
  std::string out;
  for (std::size_t first = 0; first < plan.stages.size();) {
    const std::string text = layouts_of_stage(plan, plan.stages[first]);
    std::size_t end = first + 1;
    while (end < plan.stages.size() && plan.stages[end].run.shape == plan.stages[first].run.shape &&
           layouts_of_stage(plan, plan.stages[end]) == text)
      ++end;
    const std::string which =
        end == first + 1 ? fmt::format("stage {}", first) : fmt::format("stages {} to {}", first, end - 1);
    out += fmt::format("\n{}, mesh {}\n{}", which, shape_text(plan.stages[first].run.shape), text);
    first = end;
  }
  return out;
}

std::string parallelism_text(const Parallelism& p) {
  std::string out = fmt::format("tensor {}, pipeline {}, data {}", p.tensor, p.pipeline, p.data);
  if (p.context > 1) out += fmt::format(", context {}", p.context);
  if (p.expert > 1) out += fmt::format(", expert {}", p.expert);
  if (p.sequence) out += ", sequence parallelism";
  return out;
}

std::string forecast_text(const Forecast& forecast) {
  return text(forecast.step) + (forecast.out_of_memory ? ", which does not fit" : "");
}

/// "12 layers each", "3 9 9 3 layers".
std::string layers_text(const LayoutPlan& plan) {
  std::vector<std::uint32_t> layers;
  for (const LayoutStage& stage : plan.stages) layers.push_back(stage.layers);
  const bool as_many = std::ranges::count(layers, layers.front()) == std::ssize(layers);
  return as_many ? how_many(layers.front(), "layer") + " each" : fmt::format("{} layers", fmt::join(layers, " "));
}

Json forecast_json(const schedules::Scenario& scenario, const Forecast& forecast) {
  const Parallelism& p = scenario.parallelism;
  return {{"tensor", p.tensor},
          {"pipeline", p.pipeline},
          {"data", p.data},
          {"context", p.context},
          {"expert", p.expert},
          {"sequence", p.sequence},
          {"micro_batch", scenario.training.micro_batch},
          {"layers_per_stage", p.layers_per_stage},
          {"step_time_s", to_seconds(forecast.step)},
          {"peak_memory_bytes", peak_memory(forecast).value},
          {"fits", !forecast.out_of_memory.has_value()}};
}

Json block_json(const LayoutPlan& plan, const BlockLayouts& block, MeshShape shape) {
  Json operators = Json::array();
  for (std::size_t i = 0; i < block.units.size(); ++i)
    operators.push_back({{"operator", unit_name(plan, block, block.units[i])},
                         {"operators", block.units[i].count},
                         {"layout", search::layout_text(block.chosen[i], block.units[i], shape)},
                         {"forward_s", to_seconds(block.chosen[i].forward)},
                         {"backward_s", to_seconds(block.chosen[i].backward + block.chosen[i].recomputed)},
                         {"once_s", to_seconds(block.chosen[i].once)}});
  return {{"block", block_name(plan, block)}, {"count", block.count}, {"operators", operators}};
}

Json stage_json(const LayoutPlan& plan, const LayoutStage& stage) {
  Json blocks = Json::array();
  for (const BlockLayouts& block : stage.run.blocks) blocks.push_back(block_json(plan, block, stage.run.shape));
  return {{"layers", stage.layers},
          {"gpus", stage.run.shape.devices()},
          {"mesh", shape_text(stage.run.shape)},
          {"micro_batches_held", stage.held},
          {"time_s", to_seconds(stage.run.time)},
          {"memory_bytes", stage.run.bytes.value},
          {"blocks", blocks}};
}

}  // namespace

std::string layout_table(const LayoutReport& report) {
  const schedules::Scenario& s = report.scenario;
  std::string out = shown_lines(fmt::format("{}: {}, micro-batches a step: {}, samples in each: {}\n", s.name,
                                            how_many(s.cluster.gpus, "GPU"), micro_batches(s),
                                            s.training.micro_batch * s.parallelism.data)) +
                    "\n";
  if (!report.plan) {
    for (const search::StageShortage& stage : report.shortages)
      out += fmt::format("stage {} misses {} on each of its GPUs\n", stage.stage, text(stage.missing));
    return out + "no layouts fit in the GPUs' memory\n";
  }
  const LayoutPlan& plan = *report.plan;
  TextTable table({{"stage"}, {"layers"}, {"GPUs"}, {"mesh"}, {"held"}, {"time"}, {"memory"}});
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const LayoutStage& stage = plan.stages[i];
    table.add({std::to_string(i), std::to_string(stage.layers), std::to_string(stage.run.shape.devices()),
               shape_text(stage.run.shape), std::to_string(stage.held), text(stage.run.time), text(stage.run.bytes)});
  }
  out += table.text();
  std::string said = fmt::format("\nstep with these layouts:       {}\n", text(plan.time));
  said += fmt::format("the scenario's plan simulated: {}  ({})\n", forecast_text(report.own),
                      parallelism_text(s.parallelism));
  if (report.nearest)
    said += fmt::format("the nearest plan simulated:    {}  ({}, {})\n", forecast_text(*report.nearest),
                        parallelism_text(plan.scenario->parallelism), layers_text(plan));
  else
    said += "no plan of a scenario comes near: its stages or operators are split in unlike ways\n";
  said += fmt::format("{} groups of layers, {} integer programs\n", plan.groups, plan.programs);
  return out + shown_lines(said) + layouts_of_stages(plan);
}

std::string layout_json(const LayoutReport& report) {
  const schedules::Scenario& s = report.scenario;
  Json out = {{"scenario", s.name},
              {"gpus", s.cluster.gpus},
              {"micro_batches", micro_batches(s)},
              {"samples_per_micro_batch", s.training.micro_batch * s.parallelism.data},
              {"step_time_s", nullptr},
              {"stages", Json::array()},
              {"shortages", Json::array()},
              {"layer_groups", nullptr},
              {"integer_programs", nullptr},
              {"own_plan", forecast_json(s, report.own)},
              {"nearest_plan", nullptr}};
  for (const search::StageShortage& stage : report.shortages)
    out["shortages"].push_back({{"stage", stage.stage}, {"missing_bytes", stage.missing.value}});
  if (report.plan) {
    out["step_time_s"] = to_seconds(report.plan->time);
    for (const LayoutStage& stage : report.plan->stages) out["stages"].push_back(stage_json(*report.plan, stage));
    out["layer_groups"] = report.plan->groups;
    out["integer_programs"] = report.plan->programs;
  }
  if (report.nearest) out["nearest_plan"] = forecast_json(*report.plan->scenario, *report.nearest);
  return json_text(out);
}

}  // namespace stepcast::app
