#include "schedules/checks/check_pipeline.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "models/layers/partition.h"
#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"
#include "schedules/pipeline/planned.h"
#include "schedules/pipeline/shape.h"
#include "schedules/pipeline/validate.h"

namespace stepcast::schedules {
namespace {

std::string n(std::int64_t value) { return std::to_string(value); }

/// Whether every chunk of the model gets layers, or else the embedding or the head.
void check_layers(const Scenario& s, const Shape& shape, std::vector<Problem>& out) {
  const std::int64_t p = shape.stages, v = shape.virtual_stages / copies(shape), all = s.model.layers;
  if (is_network(s.model.family) && (s.pipeline.embedding_as_layer || s.pipeline.head_as_layer))
    out.push_back({s.pipeline.embedding_as_layer ? "pipeline.embedding_as_layer" : "pipeline.head_as_layer",
                   "this family is layers alone"});
  const std::vector<std::uint32_t>& given = s.parallelism.layers_per_stage;
  if (given.empty()) {
    if (std::string problem = partition_problem(s, static_cast<std::uint32_t>(p * v)); !problem.empty())
      out.push_back({s.pipeline.virtual_stages > 1 ? "pipeline.virtual_stages" : "parallelism.pipeline",
                     std::move(problem),
                     {"parallelism.pipeline", "model.layers"}});
    return;
  }
  constexpr const char* key = "parallelism.layers_per_stage";
  if (s.pipeline.embedding_as_layer || s.pipeline.head_as_layer)
    out.push_back({key, "says all, so pipeline.embedding_as_layer and head_as_layer say nothing; leave them out"});
  if (static_cast<std::int64_t>(given.size()) != p * v) {
    out.push_back({key, "found " + n(static_cast<std::int64_t>(given.size())) + " numbers, expected " + n(p * v) +
                            (v > 1 ? ": one for each virtual stage, in the order of the model" : "")});
    return;
  }
  const std::int64_t extra = s.model.mtp_layers;
  if (const auto sum = std::accumulate(given.begin(), given.end(), std::int64_t{0}); sum != all && sum != all + extra)
    out.push_back({key, "found " + n(sum) + " layers, expected the " + n(all) + " of model.layers" +
                            (extra > 0 ? ", or " + n(all + extra) + " with model.mtp_layers" : "")});
  else if (places_mtp_layers(s) && tied_embeddings(s.model))
    out.push_back({key, "found " + n(sum) +
                            " layers, with those of multi-token prediction, which with model.tied_head "
                            "stand on the last stage; expected the " +
                            n(all) + " of model.layers"});
  else if (is_network(s.model.family) || given.size() > 2) {
    const auto ends = static_cast<std::ptrdiff_t>(is_network(s.model.family) ? 0 : 1);
    if (std::find(given.begin() + ends, given.end() - ends, 0u) != given.end() - ends)
      out.push_back({key, "found 0 layers, allowed only where the embedding or the head is"});
  }
}

/// Whether the stages' orders run to their end within what may be in flight.
void check_orders(const Scenario& s, const Shape& shape, const PipelineSchedule* schedule, std::vector<Problem>& out) {
  const std::string key = schedule != nullptr ? "pipeline.most_in_flight" : "pipeline.orders";
  constexpr std::int64_t kMost = 1 << 24;
  if (const std::int64_t forwards = std::int64_t{shape.stages} * shape.virtual_stages * shape.micro_batches;
      forwards > kMost) {
    out.push_back({key, n(forwards) + " forward passes are more than can be checked (" + n(kMost) + ")"});
    return;
  }
  const std::vector<StageOrder> all =
      schedule != nullptr ? orders(*schedule, shape) : read_orders(s.pipeline.orders).stages;
  for (std::string& problem : validate(shape, all, s.pipeline.most_in_flight).problems)
    out.push_back({key, std::move(problem)});
}

}  // namespace

void check_pipeline(const Scenario& s, std::int64_t micro_batches, std::vector<Problem>& out) {
  const std::int64_t v = s.pipeline.virtual_stages;
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  if (schedule == nullptr && s.pipeline.schedule != kCustom) {
    std::string names;
    for (const PipelineSchedule* known : pipelines()) names += std::string(known->name) + ", ";
    out.push_back({"pipeline.schedule", "found '" + s.pipeline.schedule + "', expected one of " + names + "custom"});
    return;
  }
  if (schedule != nullptr && schedule->virtual_stages > 0 && v != 1 && v != schedule->virtual_stages) {
    out.push_back({"pipeline.virtual_stages", "found " + n(v) + ", but " + std::string(schedule->name) + " has " +
                                                  n(schedule->virtual_stages) + " of itself: leave it out"});
    return;
  }
  if ((schedule == nullptr) == s.pipeline.orders.empty()) {
    out.push_back({"pipeline.orders", schedule == nullptr ? "missing, expected a line of passes for each stage"
                                                          : "found orders, but pipeline.schedule is " +
                                                                std::string(schedule->name) + ", not custom"});
    return;
  }
  if (schedule != nullptr && s.pipeline.placement) {
    out.push_back({"pipeline.placement",
                   "found a placement, but pipeline.schedule is " + std::string(schedule->name) + ", not custom"});
    return;
  }
  if (schedule == nullptr) {
    if (const std::string problem = read_orders(s.pipeline.orders).problem; !problem.empty()) {
      out.push_back({"pipeline.orders", problem});
      return;
    }
  }
  if (s.pipeline.micro_batch_group && (schedule == nullptr || !schedule->in_groups || v == 1)) {
    out.push_back(
        {"pipeline.micro_batch_group", "only interleaved-1f1b with several virtual stages has groups, found " +
                                           s.pipeline.schedule + " with " + n(v)});
    return;
  }
  const Shape shape = planned_shape(s, static_cast<std::uint32_t>(std::max<std::int64_t>(micro_batches, 1)));
  const std::string refused = schedule != nullptr ? schedule->supports(shape) : shape_problem(shape);
  check_layers(s, shape, out);
  if (!s.software.loss_parallel && s.parallelism.tensor > 1 && has_loss_block(s))
    out.push_back({"software.loss_parallel",
                   "false with stages shared out by cost, where the loss may stand on another stage than the logits, "
                   "is not built; expected true"});
  if (micro_batches == 0) return;
  if (!refused.empty()) {
    out.push_back({s.pipeline.micro_batch_group ? "pipeline.micro_batch_group"
                   : v > 1                      ? "pipeline.virtual_stages"
                                                : "pipeline.schedule",
                   refused,
                   {"pipeline.schedule", "parallelism.pipeline", "parallelism.data", "training.global_batch",
                    "training.micro_batch"}});
    return;
  }
  if (schedule == nullptr || s.pipeline.most_in_flight) check_orders(s, shape, schedule, out);
  const bool one_by_one = schedule != nullptr && copies(shape) == 1 && !schedule->runs_together;
  if ((s.data_parallel.zero == 3 || sums_each_micro_batch(s)) && !one_by_one)
    out.push_back({"data_parallel.zero", "zero " + n(s.data_parallel.zero) + " with pipeline.schedule " +
                                             s.pipeline.schedule + " is not built; use zero 0 or 1"});
  if (copies(shape) > 1 && s.data_parallel.shard_group)
    out.push_back({"data_parallel.shard_group", "found shard_group with " + s.pipeline.schedule +
                                                    ", whose two copies of the model share one state"});
  if (schedule != nullptr && schedule->updates != Updates::after_flush && s.data_parallel.zero > 0)
    out.push_back({"data_parallel.zero", "zero " + n(s.data_parallel.zero) + " with " + std::string(schedule->name) +
                                             ", which keeps whole versions of its weights; use zero 0"});
}

}  // namespace stepcast::schedules
