#include "schedules/pipeline/ideal.h"

#include "sim/executor.h"
#include "sim/task_graph.h"

namespace stepcast::schedules {
namespace {

constexpr sim::TaskId kNoTask{0xffffffffu};

/// The task of each pass, by model chunk and micro-batch: they come from many stages and are linked at the end.
struct ByChunk {
  explicit ByChunk(Shape shape)
      : micro_batches(shape.micro_batches),
        chunks(std::size_t{shape.stages} * shape.virtual_stages),
        task{std::vector(chunks * micro_batches, kNoTask), std::vector(chunks * micro_batches, kNoTask)} {}
  sim::TaskId& at(PassKind kind, std::size_t chunk, std::size_t micro_batch) {
    return task[kind == PassKind::forward ? 0 : 1][chunk * micro_batches + micro_batch];
  }
  std::size_t micro_batches, chunks;
  std::vector<sim::TaskId> task[2];
};

}  // namespace

IdealTimes ideal_times(Shape shape, std::span<const StageOrder> orders, Time forward, Time backward, Time weight) {
  sim::TaskGraph graph;
  ByChunk tasks(shape);
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    const sim::StreamId stream = graph.add_stream();
    for (const Pass& pass : orders[s]) {
      const std::size_t chunk = std::size_t{pass.virtual_stage} * shape.stages + s;
      if (pass.kind == PassKind::weight) {
        graph.work(stream, weight);  // nobody waits for it
        continue;
      }
      tasks.at(pass.kind, chunk, index(pass.micro_batch)) =
          graph.work(stream, pass.kind == PassKind::forward ? forward : backward);
    }
  }
  for (std::size_t chunk = 1; chunk < tasks.chunks; ++chunk) {
    for (std::size_t m = 0; m < tasks.micro_batches; ++m) {
      graph.after(tasks.at(PassKind::forward, chunk, m), tasks.at(PassKind::forward, chunk - 1, m));
      graph.after(tasks.at(PassKind::backward, chunk - 1, m), tasks.at(PassKind::backward, chunk, m));
    }
  }
  const sim::Timeline timeline = sim::run(graph);

  IdealTimes times{.start = {}, .end = timeline.end};
  std::size_t task = 0;  // tasks are numbered as they were added: stage by stage, in order
  for (const StageOrder& order : orders) {
    std::vector<Time>& starts = times.start.emplace_back();
    for (std::size_t i = 0; i < order.size(); ++i) starts.push_back(timeline.start[task++]);
  }
  return times;
}

double bubble_fraction(Shape shape, const IdealTimes& times, Time forward, Time backward, Time weight) {
  const double busy =
      static_cast<double>(shape.micro_batches) * shape.virtual_stages * ((forward + backward + weight) / times.end);
  return 1.0 - busy;
}

}  // namespace stepcast::schedules
