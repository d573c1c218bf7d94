#include "language/chakra/other_traces.h"

#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "language/chakra/attributes.h"
#include "language/chakra/collective_types.h"
#include "language/chakra/process_groups.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using collectives::Group;
using collectives::Operation;
using sim::TaskId;
using workload::Communication;

class OtherReader {
 public:
  OtherReader(const CheckedTraces& checked, const Traces& traces) : traces_(checked), groups_(checked, traces) {}

  TracedProgram read() {
    for (std::uint32_t rank = 0; rank < traces_.ranks(); ++rank) gpus_.push_back(program().add_engine());
    tasks_.resize(traces_.ranks());
    for (std::uint32_t rank = 0; rank < traces_.ranks(); ++rank)
      for (std::size_t n = 0; n < traces_.nodes(rank).size(); ++n) {
        const TaskId task = task_of({rank, n});
        tasks_[rank].push_back(task);
        out_.tasks.resize(program().tasks());
        out_.tasks[sim::index(task)].push_back({rank, n});
      }
    check_collectives();
    join_messages();
    for (std::uint32_t rank = 0; rank < traces_.ranks(); ++rank)
      for (std::size_t n = 0; n < traces_.nodes(rank).size(); ++n)
        for (const std::size_t before : traces_.after({rank, n}))
          program().after(tasks_[rank][n], tasks_[rank][before]);
    return std::move(out_);
  }

 private:
  /// The n-th one of a process group.
  struct Joint {
    TaskId task{};
    NodePlace first{};
    std::uint64_t type = 0, size = 0;
  };
  struct OfGroup {
    std::vector<Joint> joints;
    std::map<std::uint32_t, std::size_t> seen;  ///< by rank
  };
  /// Messages from one rank to another with one tag, as one of the two has them.
  using Channel = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  using Messages = std::map<Channel, std::vector<NodePlace>>;

  workload::Program& program() { return out_.recorded.program; }
  TaskId moment() { return program().moment(); }

  TaskId task_of(NodePlace at) {
    const ChakraNode& node = traces_.node(at);
    switch (node.type) {
      case ChakraType::invalid:
      case ChakraType::metadata:
        return moment();
      case ChakraType::compute:
        return compute(at);
      case ChakraType::memory_load:
      case ChakraType::memory_store:
        return copy(at);
      case ChakraType::send:
        return message(at, sent_);
      case ChakraType::receive:
        return message(at, received_);
      case ChakraType::collective:
        return collective(at);
    }
    traces_.fail(at, "type",
                 "found " + std::to_string(static_cast<int>(node.type)) + ", expected a NodeType of Chakra, 0 to 7");
  }

  TaskId compute(NodePlace at) {
    const Time duration = duration_of(traces_, at);
    if (duration == Time{} && traces_.number(at, "num_ops").value_or(0) > 0)
      traces_.fail(
          at, "num_ops",
          "found operations beside no duration_micros, expected a duration: stepcast times no kernels of traces");
    if (traces_.yes(at, "is_cpu_op").value_or(false) || duration == Time{}) return program().delay(duration);
    return program().kernels(std::span<const sim::StreamId>{}, gpus_[at.rank], duration);
  }

  Bytes size(NodePlace at, const char* attribute) const {
    constexpr auto kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / (1u << 20);
    const std::uint64_t bytes = traces_.needed(at, attribute);
    if (bytes > kMostBytes) traces_.fail(at, attribute, "found " + std::to_string(bytes) + ", expected at most 8 TiB");
    return Bytes{static_cast<std::int64_t>(bytes)};
  }

  TaskId communicate(Communication communication) {
    std::vector<Communication>& all = out_.recorded.communications;
    all.push_back(std::move(communication));
    const workload::CommunicationId id{static_cast<std::uint32_t>(all.size() - 1)};
    return program().communicate(std::span<const sim::StreamId>{}, id);
  }

  TaskId copy(NodePlace at) {
    workload::HostCopy copy;
    copy.direction = traces_.node(at).type == ChakraType::memory_store ? topology::ToHost::yes : topology::ToHost::no;
    copy.bytes = size(at, "tensor_size");
    copy.gpus = {topology::GpuId{at.rank}};
    if (copy.bytes.value == 0) return moment();
    return communicate({.collectives = {}, .copy = std::move(copy)});
  }

  TaskId collective(NodePlace at) {
    const std::uint64_t type = traces_.needed(at, "comm_type");
    const auto operation = type <= static_cast<std::uint64_t>(CollectiveType::barrier)
                               ? operation_of(static_cast<CollectiveType>(type))
                               : std::nullopt;
    if (!operation)
      traces_.fail(at, "comm_type",
                   "found " + std::to_string(type) + ", expected a CollectiveCommType of Chakra, 0 to 9");
    const bool barrier = static_cast<CollectiveType>(type) == CollectiveType::barrier;
    const Group& group = groups_.of(at);
    const Bytes in_trace = barrier ? Bytes{kBarrierBytes} : size(at, "comm_size");
    OfGroup& of_group = collectives_[group];
    const std::size_t number = of_group.seen[at.rank]++;
    if (number < of_group.joints.size()) {
      const Joint& joint = of_group.joints[number];
      const auto same = [&](std::uint64_t mine, std::uint64_t other, const char* attribute) {
        if (mine != other)
          traces_.fail(at, attribute,
                       "found " + std::to_string(mine) + ", expected " + std::to_string(other) + " as " +
                           traces_.place(joint.first) + " has: both are number " + std::to_string(number + 1) +
                           " of their process group");
      };
      same(type, joint.type, "comm_type");
      same(static_cast<std::uint64_t>(in_trace.value), joint.size, "comm_size");
      return joint.task;
    }
    workload::Collective c{.operation = *operation,
                           .bytes = size_of_traces(*operation, in_trace, group.size()),
                           .groups = std::make_shared<const std::vector<Group>>(1, group)};
    const TaskId task =
        group.size() < 2 || c.bytes.value == 0 ? moment() : communicate({.collectives = {std::move(c)}});
    of_group.joints.push_back({task, at, type, static_cast<std::uint64_t>(in_trace.value)});
    return task;
  }

  /// Every rank of a group has as many.
  void check_collectives() const {
    for (const auto& [group, of_group] : collectives_)
      for (const topology::GpuId gpu : group) {
        const auto seen = of_group.seen.find(topology::index(gpu));
        const std::size_t count = seen == of_group.seen.end() ? 0 : seen->second;
        if (count == of_group.joints.size()) continue;
        throw InputError(traces_.file(topology::index(gpu)),
                         "found " + std::to_string(count) + " collectives of a process group of which others have " +
                             std::to_string(of_group.joints.size()) + ": " +
                             traces_.place(of_group.joints[count].first) + " has none to join it here");
      }
  }

  std::uint64_t rank(NodePlace at, const char* attribute, bool own) const {
    const std::optional<std::uint64_t> found = traces_.number(at, attribute);
    if (!found && own) return at.rank;
    if (!found) traces_.fail(at, attribute, "expected this attribute");
    if (own && *found != at.rank)
      traces_.fail(at, attribute, "found " + std::to_string(*found) + ", expected the rank of this file");
    if (*found >= traces_.ranks())
      traces_.fail(at, attribute,
                   "found " + std::to_string(*found) + ", expected a rank below " + std::to_string(traces_.ranks()));
    return *found;
  }

  /// A message stands where it is sent; where it is received there is a moment after it.
  TaskId message(NodePlace at, Messages& messages) {
    const bool sends = &messages == &sent_;
    const std::uint64_t from = rank(at, "comm_src", sends), to = rank(at, "comm_dst", !sends);
    const Bytes bytes = size(at, "comm_size");
    messages[{from, to, traces_.number(at, "comm_tag").value_or(0)}].push_back(at);
    if (!sends || from == to || bytes.value == 0) return moment();
    const Group pair{topology::GpuId{static_cast<std::uint32_t>(from)},
                     topology::GpuId{static_cast<std::uint32_t>(to)}};
    workload::Collective c{.operation = Operation::send_recv,
                           .bytes = bytes,
                           .groups = std::make_shared<const std::vector<Group>>(1, pair)};
    return communicate({.collectives = {std::move(c)}});
  }

  void join_messages() {
    for (const auto& [channel, sent] : sent_) {
      const auto received = received_.find(channel);
      const std::size_t count = received == received_.end() ? 0 : received->second.size();
      if (count < sent.size()) fail_alone(sent[count], "comm_dst", std::get<1>(channel), "COMM_RECV_NODE");
    }
    for (const auto& [channel, received] : received_) {
      const auto sent = sent_.find(channel);
      const std::size_t count = sent == sent_.end() ? 0 : sent->second.size();
      if (count < received.size()) fail_alone(received[count], "comm_src", std::get<0>(channel), "COMM_SEND_NODE");
      for (std::size_t i = 0; i < count; ++i) {
        const NodePlace from = sent->second[i], to = received[i];
        if (const std::uint64_t here = traces_.needed(to, "comm_size"), there = traces_.needed(from, "comm_size");
            here != there)
          traces_.fail(to, "comm_size",
                       "found " + std::to_string(here) + ", expected " + std::to_string(there) + " as " +
                           traces_.place(from) + " sends");
        program().after(tasks_[to.rank][to.node], tasks_[from.rank][from.node]);
      }
    }
  }

  [[noreturn]] void fail_alone(NodePlace at, const char* attribute, std::uint64_t other, const char* type) const {
    traces_.fail(at, attribute,
                 "found " + std::to_string(other) + ", but " + traces_.file(static_cast<std::uint32_t>(other)) +
                     " has no " + type + " of this tag that is left for it");
  }

  static constexpr std::int64_t kBarrierBytes = 4;  // as PyTorch makes one of NCCL: a sum of one number
  const CheckedTraces& traces_;
  const ProcessGroups groups_;
  TracedProgram out_;
  std::vector<workload::EngineId> gpus_;    // by rank
  std::vector<std::vector<TaskId>> tasks_;  // by rank and node
  std::map<Group, OfGroup> collectives_;
  Messages sent_, received_;
};

}  // namespace

TracedProgram program_of_others(const CheckedTraces& checked, const Traces& traces) {
  return OtherReader(checked, traces).read();
}

}  // namespace stepcast::language
