#include "schedules/forecast.h"

#include <algorithm>
#include <unordered_map>

#include "collectives/timer.h"
#include "schedules/memory/memory.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "schedules/pipeline/validate.h"
#include "schedules/step/chunks.h"
#include "schedules/step/split.h"
#include "schedules/step/step.h"
#include "schedules/step/trace.h"
#include "schedules/step/wires.h"
#include "sim/executor.h"
#include "topology/cluster.h"

namespace stepcast::schedules {
namespace {

std::vector<StageShape> stage_shapes(const Scenario& s, const Shape& shape, const std::vector<StageOrder>& orders) {
  const Validation valid = validate(shape, orders);
  std::vector<StageShape> stages;
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage)
    stages.push_back(
        {s.model.layers / shape.stages, stage == 0, stage + 1 == shape.stages, valid.most_in_flight[stage]});
  return stages;
}

/// The link with the largest share of its capacity used over the step: tensor traffic and all else.
std::optional<BusyLink> busiest_link(const Scenario& s, const topology::Cluster& cluster, const Step& step,
                                     const Wires& wires, PieceTimes& pieces, Time end) {
  std::unordered_map<std::uint32_t, double> carried;
  const double layer_passes = static_cast<double>(s.model.layers / s.parallelism.pipeline) * micro_batches(s);
  // Every stage's tensor groups carry the same; the first one's links stand for theirs.
  for (const auto& load : pieces.at({}).layer_traffic) carried[topology::index(load.link)] += load.bytes * layer_passes;
  for (std::size_t wire = 0; wire < step.wire_times.size(); ++wire)
    for (const auto& load : wires.loads(WireId{static_cast<std::uint32_t>(wire)}))
      carried[topology::index(load.link)] += load.bytes * static_cast<double>(step.wire_times[wire]);
  std::optional<BusyLink> busiest;
  std::uint32_t at = 0;
  for (const auto& [link, bytes] : carried) {
    const double utilisation = bytes / (cluster.link_bandwidth(topology::LinkId{link}).value * to_seconds(end));
    if (!busiest || utilisation > busiest->utilisation || (utilisation == busiest->utilisation && link < at)) {
      busiest = BusyLink{"", utilisation};
      at = link;
    }
  }
  if (busiest) {
    const topology::Link link = cluster.link(topology::LinkId{at});
    busiest->name = link.from + " -> " + link.to;
  }
  return busiest;
}

}  // namespace

Forecast forecast(const Scenario& s, const ForecastOptions& options) {
  const topology::Cluster cluster =
      topology::build_cluster(s.cluster.node, s.cluster.fabric, s.cluster.gpus, s.cluster.allocation);
  const Ranks ranks(s.parallelism, cluster.gpus_per_node());
  collectives::Timer timer(cluster, s.software.transport);
  PieceTimes pieces(s, ranks, timer, cluster.gpus_per_node(), !options.unfold);

  const Shape shape{s.parallelism.pipeline, micro_batches(s), s.pipeline.virtual_stages};
  const std::vector<StageOrder> stage_orders = orders(*find_pipeline(s.pipeline.schedule), shape);
  const std::vector<StageShape> stages = stage_shapes(s, shape, stage_orders);
  std::vector<double> stage_sizes;
  for (const StageShape& stage : stages) stage_sizes.push_back(stage_parameters(s, stage));

  Wires wires(cluster);
  const Step step =
      build_step({s, cluster, ranks, stage_orders, stage_sizes, timer, pieces, options.unfold, options.trace}, wires);
  const sim::Timeline timeline = sim::run(step.graph);

  Forecast out;
  out.step = timeline.end;
  const double seconds = to_seconds(out.step);
  out.gpus = s.cluster.gpus;
  out.parameters = parameters(s.model, s.training.sequence);
  out.tokens_per_second = static_cast<double>(s.training.global_batch * s.training.sequence) / seconds;
  out.model_flops_per_gpu = {model_flops(s.model, s.training.global_batch, s.training.sequence).value / seconds /
                             static_cast<double>(out.gpus)};
  out.mfu = out.model_flops_per_gpu / peak(s.cluster.gpu, s.training.precision);
  const PieceTimes::Times& times = pieces.at({});
  out.layer_forward = times.layer.forward.duration;
  out.layer_backward = times.layer.backward.duration;
  for (const Lane& lane : step.lanes) {
    if (lane.at.tensor != 0 || lane.at.data != 0) continue;
    const std::uint32_t stage = lane.at.stage;
    StageReport report;
    report.stage = stage;
    report.time = split_time(lane, timeline);
    report.memory = stage_memory(s, stages[stage]);
    report.layers = stages[stage].layers;
    report.in_flight = stages[stage].in_flight;
    if (const auto over = out_of_memory(s, stage, report.memory);
        over && (!out.out_of_memory || over->needed > out.out_of_memory->needed))
      out.out_of_memory = over;
    out.stages.push_back(report);
  }
  out.busiest_link = busiest_link(s, cluster, step, wires, pieces, out.step);
  if (options.trace) {
    out.streams.assign(std::begin(kLaneStreams), std::end(kLaneStreams));
    out.spans = spans(step, timeline);
  }
  return out;
}

}  // namespace stepcast::schedules
