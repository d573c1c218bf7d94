#include "sim/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/event_queue.h"
#include "sim/flow_network.h"
#include "sim/sequences.h"

namespace stepcast::sim {
namespace {

enum EventKind : std::uint32_t {
  kWorkEnds,     // subject: task
  kLatencyEnds,  // subject: task
  kFlowEnds,     // subject: route
};

std::string describe(const std::vector<TaskId>& circle) {
  std::string text = "tasks wait for each other in a circle:";
  constexpr std::size_t kShown = 16;
  for (std::size_t i = 0; i < std::min(circle.size(), kShown); ++i) text += fmt::format(" {}", index(circle[i]));
  if (circle.size() > kShown) text += fmt::format(" ... ({} tasks)", circle.size());
  return text;
}

constexpr std::size_t kTellEach = std::size_t{1} << 16;

/// One run of one graph.
class Execution {
 public:
  Execution(const TaskGraph& graph, const Watch& watch)
      : graph_(graph), tasks_(graph.tasks()), network_(graph), sequences_(graph, queue_, network_), watch_(watch) {
    timeline_.start.resize(tasks_.size());
    timeline_.finish.resize(tasks_.size());
    index_successors();
  }

  Timeline run() {
    for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
      if (successors_.empty() || order_[task].waits_for == 0) begin(task);
    }
    end_instant();
    while (!queue_.empty()) {
      handle(queue_.take());
      if (!queue_.more_now()) end_instant();
    }
    if (finished_ != tasks_.size()) throw CyclicTasks(find_circle());
    timeline_.carried = carried();
    return std::move(timeline_);
  }

 private:
  /// Of a task; in one place, because tasks come in no order.
  struct TaskOrder {
    std::uint32_t waits_for = 0;  ///< so many that have not ended
    std::uint32_t end = 0;  ///< of those that come after it, in successors_; they begin where the task before ends
  };
  /// All is empty where no task comes after any.
  void index_successors() {
    const auto dependencies = graph_.dependencies();
    if (dependencies.empty()) return;
    if (dependencies.size() >= 0xffffffffu) throw std::length_error("more than 2^32 dependencies");
    order_.resize(tasks_.size() + 1);
    for (const auto& [earlier, later] : dependencies) {
      if (index(earlier) >= tasks_.size() || index(later) >= tasks_.size()) {
        throw std::logic_error("a dependency on an unknown task");
      }
      ++order_[index(earlier) + 1].end;
      ++order_[index(later)].waits_for;
    }
    for (std::size_t t = 1; t < order_.size(); ++t) order_[t].end += order_[t - 1].end;
    successors_.resize(dependencies.size());
    // From each one's begin, where the one before ends, to its own end.
    for (const auto& [earlier, later] : dependencies) successors_[order_[index(earlier)].end++] = index(later);
  }

  std::span<const std::uint32_t> successors(std::uint32_t task) const {
    const std::uint32_t first = task == 0 ? 0 : order_[task - 1].end;
    return {successors_.data() + first, successors_.data() + order_[task].end};
  }

  void begin(std::uint32_t task) {
    const Time now = queue_.now();
    timeline_.start[task] = now;
    const TaskGraph::Task& what = tasks_[task];
    if (what.route == TaskGraph::kNoRoute) {
      if (what.amount == 0) {
        end(task);
      } else {
        queue_.schedule(now + Time{what.amount}, {kWorkEnds, task});
      }
      return;
    }
    if (what.route == TaskGraph::kLegs) {
      if (sequences_.begin(task)) end(task);
      return;
    }
    const Time latency = graph_.routes().latency(index(what.route));
    if (latency == Time{}) {
      move(task);
    } else {
      queue_.schedule(now + latency, {kLatencyEnds, task});
    }
  }

  /// The latency is over: the bytes move.
  void move(std::uint32_t task) {
    const TaskGraph::Task& what = tasks_[task];
    if (what.amount == 0 || network_.unbounded(what.route)) {
      end(task);
    } else {
      if (sequences_.any()) sequences_.starts_on(what.route);
      network_.start(task, what.route, {what.amount});
    }
  }

  void end(std::uint32_t task) { ended_.push_back(task); }

  /// Lets the tasks that have ended start what waited for them; a loop, not a recursion: chains of tasks that take
  /// no time can be long.
  void release() {
    while (!ended_.empty()) {
      std::uint32_t task = ended_.back();
      ended_.pop_back();
      if (task >= tasks_.size()) {  // a flow of a sequence
        const std::optional<std::uint32_t> of = sequences_.flow_ended(task);
        if (!of) continue;
        task = *of;
      }
      if (++finished_ % kTellEach == 0 && watch_) watch_(finished_);
      timeline_.finish[task] = timeline_.end = queue_.now();
      if (successors_.empty()) continue;
      for (const std::uint32_t successor : successors(task))
        if (--order_[successor].waits_for == 0) begin(successor);
    }
  }

  void handle(Event event) {
    switch (event.kind) {
      case kWorkEnds:
        end(event.subject);
        break;
      case kLatencyEnds:
        move(event.subject);
        break;
      case kFlowEnds: {
        const std::size_t before = ended_.size();
        if (const auto again = network_.expire(RouteId{event.subject}, queue_.now(), ended_)) {
          queue_.schedule(*again, event);
        }
        if (sequences_.any())
          for (std::size_t i = before; i < ended_.size(); ++i)
            if (ended_[i] < tasks_.size()) sequences_.ended_on(RouteId{event.subject});
        break;
      }
      default:
        if (const std::optional<std::uint32_t> task = sequences_.handle(event)) end(*task);
    }
    release();
  }

  void end_instant() {
    release();
    for (const RouteId route : network_.settle(queue_.now()))
      queue_.schedule(network_.wake(route), {kFlowEnds, index(route)});
  }

  /// Every transfer ends, so what crosses a resource is a sum over transfers, less what the rates did not bring.
  std::vector<double> carried() const {
    std::vector<double> on_route(graph_.routes().size(), 0.0);
    std::vector<double> times(graph_.sequences().size(), 0.0);
    for (const TaskGraph::Task& task : tasks_) {
      if (task.route == TaskGraph::kLegs) {
        ++times[static_cast<std::size_t>(task.amount)];
      } else if (task.route != TaskGraph::kNoRoute) {
        on_route[index(task.route)] += static_cast<double>(task.amount);
      }
    }
    for (std::size_t s = 0; s < times.size(); ++s) {
      for (const Leg& leg : graph_.sequences()[s]) {
        for (const RoutedBytes& transfer : leg.transfers)
          on_route[index(transfer.route)] += times[s] * static_cast<double>(transfer.bytes.value);
      }
    }
    for (const FlowNetwork::Loss& loss : network_.losses()) on_route[index(loss.route)] -= loss.bytes;
    std::vector<double> total(graph_.resources().size(), 0.0);
    for (std::size_t r = 0; r < on_route.size(); ++r) {
      for (const Use& use : graph_.routes()[r].uses) total[index(use.resource)] += use.load * on_route[r];
    }
    return total;
  }

  /// Every unfinished task waits for another unfinished one, and no finished one waits: walking back must come round.
  std::vector<TaskId> find_circle() const {
    constexpr std::uint32_t kNone = 0xffffffffu;
    std::vector<std::uint32_t> waits_on(tasks_.size(), kNone);
    for (const auto& [earlier, later] : graph_.dependencies()) {
      if (order_[index(earlier)].waits_for != 0 && order_[index(later)].waits_for != 0)
        waits_on[index(later)] = index(earlier);
    }
    std::uint32_t task = 0;
    while (waits_on[task] == kNone) ++task;
    std::vector<bool> seen(tasks_.size());
    for (; !seen[task]; task = waits_on[task]) seen[task] = true;
    std::vector<TaskId> circle;
    for (; seen[task]; task = waits_on[task]) {
      seen[task] = false;
      circle.push_back(TaskId{task});
    }
    return circle;
  }

  const TaskGraph& graph_;
  std::span<const TaskGraph::Task> tasks_;
  FlowNetwork network_;
  EventQueue queue_;
  Sequences sequences_;
  const Watch& watch_;
  std::vector<TaskOrder> order_;  // by task, and one behind
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> ended_;  // ended, but what waits for them has not been told
  std::size_t finished_ = 0;
  Timeline timeline_;
};

}  // namespace

CyclicTasks::CyclicTasks(std::vector<TaskId> circle) : std::runtime_error(describe(circle)), cycle(std::move(circle)) {}

Timeline run(const TaskGraph& graph, const Watch& watch) { return Execution(graph, watch).run(); }

}  // namespace stepcast::sim
