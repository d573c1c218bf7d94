#include "language/chakra/own_traces.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "language/chakra/attributes.h"
#include "language/chakra/details.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// A task as its nodes say.
struct ReadTask {
  std::optional<std::uint32_t> communication{}, engine{};
  Time duration{};
  friend bool operator==(const ReadTask&, const ReadTask&) = default;
};

class OwnReader {
 public:
  OwnReader(const CheckedTraces& traces, ChakraDetails details, const std::string& file)
      : traces_(traces), details_(std::move(details)), file_(file), tasks_(details_.tasks), nodes_(details_.tasks) {
    if (traces.ranks() != details_.ranks)
      throw InputError(
          traces.file(traces.ranks()),
          "found no such file, expected traces of " + std::to_string(details_.ranks) + " ranks, as " + file + " says");
  }

  TracedProgram read() {
    for (std::uint32_t rank = 0; rank < traces_.ranks(); ++rank)
      for (std::size_t n = 0; n < traces_.nodes(rank).size(); ++n) see({rank, n});
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (!tasks_[t])
        throw InputError(file_, "expected a node of task " + std::to_string(t) + " in the traces, found none");
    workload::Program& program = details_.recorded.program;
    for (std::uint32_t engine = 0; engine < details_.engines; ++engine) program.add_engine();
    for (const std::optional<ReadTask>& task : tasks_) add(program, *task);
    for (const auto& [later, earlier] : dependencies_) program.after(sim::TaskId{later}, sim::TaskId{earlier});
    return {std::move(details_.recorded), std::move(nodes_)};
  }

 private:
  void add(workload::Program& program, const ReadTask& task) const {
    if (task.communication) {
      const workload::Program::Slowdown& slows = details_.slowdowns[*task.communication];
      program.communicate(std::span<const sim::StreamId>{}, workload::CommunicationId{*task.communication},
                          slows.engines, slows.slowdown);
    } else if (task.engine) {
      program.kernels(std::span<const sim::StreamId>{}, workload::EngineId{*task.engine}, task.duration);
    } else {
      program.delay(task.duration);
    }
  }

  std::uint32_t task_number(NodePlace at, std::string_view attribute, std::uint64_t found) const {
    if (found >= tasks_.size())
      traces_.fail(at, attribute,
                   "found " + std::to_string(found) + ", expected the number of a task, below " +
                       std::to_string(tasks_.size()) + " as " + file_ + " says");
    return static_cast<std::uint32_t>(found);
  }

  std::optional<std::uint32_t> numbered(NodePlace at, const char* attribute, std::size_t end) const {
    const std::optional<std::uint64_t> found = traces_.number(at, attribute);
    if (found && *found >= end)
      traces_.fail(at, attribute,
                   "found " + std::to_string(*found) + ", of which " + file_ + " has " + std::to_string(end));
    return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
  }

  /// What is of no task is for other simulators alone.
  void see(NodePlace at) {
    const std::optional<std::uint64_t> number = traces_.number(at, kTaskAttribute);
    if (!number) return;
    const std::uint32_t task = task_number(at, kTaskAttribute, *number);
    ReadTask read{.communication = numbered(at, kCommunicationAttribute, details_.slowdowns.size()),
                  .engine = numbered(at, kEngineAttribute, details_.engines)};
    if (!read.communication) read.duration = duration_of(traces_, at);
    if (!tasks_[task]) {
      tasks_[task] = read;
    } else if (*tasks_[task] != read) {
      traces_.fail(at, kTaskAttribute,
                   "found " + std::to_string(task) + ", expected what " + traces_.place(nodes_[task].front()) +
                       " says of this task");
    }
    nodes_[task].push_back(at);
    for (const std::size_t before : traces_.after(at))
      if (const auto earlier = traces_.number({at.rank, before}, kTaskAttribute); earlier && *earlier != task)
        dependencies_.emplace(task, task_number({at.rank, before}, kTaskAttribute, *earlier));
    for (const std::uint64_t earlier : traces_.numbers(at, kAfterAttribute))
      dependencies_.emplace(task, task_number(at, kAfterAttribute, earlier));
  }

  const CheckedTraces& traces_;
  ChakraDetails details_;
  const std::string& file_;
  std::vector<std::optional<ReadTask>> tasks_;
  std::vector<std::vector<NodePlace>> nodes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> dependencies_;  // later, earlier
};

}  // namespace

TracedProgram program_of_own(const CheckedTraces& traces, const std::string& details, const std::string& file) {
  return OwnReader(traces, read_chakra_details(details, file), file).read();
}

}  // namespace stepcast::language
