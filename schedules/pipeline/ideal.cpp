#include "schedules/pipeline/ideal.h"

#include "schedules/pipeline/placement.h"
#include "sim/executor.h"
#include "sim/task_graph.h"

namespace stepcast::schedules {
namespace {

/// The task of each pass, by model chunk and micro-batch (which tells the copy of the model): they come from many
/// stages and are linked at the end.
struct ByChunk {
  explicit ByChunk(Shape shape)
      : micro_batches(shape.micro_batches),
        chunks(schedules::chunks(shape)),
        task{std::vector(chunks * micro_batches, sim::TaskId{}), std::vector(chunks * micro_batches, sim::TaskId{})} {}
  sim::TaskId& at(PassKind kind, std::size_t chunk, std::size_t micro_batch) {
    return task[kind == PassKind::forward ? 0 : 1][chunk * micro_batches + micro_batch];
  }
  std::size_t micro_batches, chunks;
  std::vector<sim::TaskId> task[2];
};

}  // namespace

IdealTimes ideal_times(Shape shape, std::span<const StageOrder> orders, Time forward, Time backward, Time weight,
                       std::optional<Time> both) {
  const auto alone = [&](PassKind kind) {
    switch (kind) {
      case PassKind::forward:
        return forward;
      case PassKind::backward:
        return backward;
      case PassKind::weight:
        return weight;
      case PassKind::whole_backward:
        return backward + weight;
    }
    return Time{};
  };
  IdealTimes times;
  sim::TaskGraph graph;
  ByChunk tasks(shape);
  std::vector<std::vector<sim::TaskId>> of_stage(shape.stages);
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    const sim::StreamId stream = graph.add_stream();
    Time& busy = times.busy.emplace_back();
    bool joins = false;
    for (std::size_t i = 0; i < orders[s].size(); ++i) {
      const Pass& pass = orders[s][i];
      if (!joins) {
        Time duration = alone(pass.kind);
        if (pass.with_next) duration = both.value_or(duration + alone(orders[s][i + 1].kind));
        busy += duration;
        of_stage[s].push_back(graph.work(stream, duration));
      } else {
        of_stage[s].push_back(of_stage[s].back());
      }
      joins = pass.with_next;
      if (pass.kind == PassKind::weight) continue;  // nobody waits for it
      tasks.at(pass.kind, held(shape, {s, pass.virtual_stage}).chunk, index(pass.micro_batch)) = of_stage[s].back();
    }
  }
  for (std::size_t chunk = 1; chunk < tasks.chunks; ++chunk) {
    for (std::size_t m = 0; m < tasks.micro_batches; ++m) {
      graph.after(tasks.at(PassKind::forward, chunk, m), tasks.at(PassKind::forward, chunk - 1, m));
      graph.after(tasks.at(PassKind::backward, chunk - 1, m), tasks.at(PassKind::backward, chunk, m));
    }
  }
  const sim::Timeline timeline = sim::run(graph);

  times.end = timeline.end;
  for (const std::vector<sim::TaskId>& stage : of_stage) {
    std::vector<Time>& starts = times.start.emplace_back();
    for (const sim::TaskId task : stage) starts.push_back(timeline.start[sim::index(task)]);
  }
  return times;
}

double bubble_fraction(const IdealTimes& times) {
  double busy = 0;
  for (const Time stage : times.busy) busy += stage / times.end;
  return 1.0 - busy / static_cast<double>(times.busy.size());
}

}  // namespace stepcast::schedules
