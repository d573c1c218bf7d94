#include "language/chakra/traces_of.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "language/chakra/attributes.h"
#include "language/chakra/collective_types.h"
#include "language/chakra/details.h"
#include "language/chakra/ranks_of_tasks.h"

namespace stepcast::language {
namespace {

using collectives::Group;
using collectives::Operation;
using topology::GpuId;
using workload::Communication;

constexpr std::int64_t kPicosecondsPerMicro = 1'000'000;
constexpr const char* kSchemaVersion = "1.0.2-chakra.0.0.4";

std::uint64_t micros(Time time) {
  return static_cast<std::uint64_t>((time.value + kPicosecondsPerMicro / 2) / kPicosecondsPerMicro);
}

class ChakraWriter {
 public:
  ChakraWriter(const workload::RecordedProgram& recorded, std::uint32_t ranks)
      : recorded_(recorded), program_(recorded.program), ranks_of_(ranks_of_tasks(recorded)), last_(ranks) {
    out_.traces.resize(ranks);
    for (ChakraTrace& trace : out_.traces) trace.version = kSchemaVersion;
    // Where a program turns up its tasks in another order than they run, nodes still come after what they wait for.
    for (const auto& [earlier, later] : program_.graph().dependencies())
      before_[sim::index(later)].push_back(sim::index(earlier));
    for (auto& [later, earlier] : before_) {
      std::ranges::sort(earlier);
      earlier.erase(std::unique(earlier.begin(), earlier.end()), earlier.end());
    }
  }

  ChakraFiles write() {
    out_.details = chakra_details(recorded_, static_cast<std::uint32_t>(out_.traces.size()), groups_);
    for (const std::uint32_t task : in_order()) add(task);
    nlohmann::ordered_json groups = nlohmann::ordered_json::object();
    for (const std::size_t number : named_) {
      nlohmann::ordered_json& ranks = groups[std::to_string(number + 1)] = nlohmann::ordered_json::array();
      for (const GpuId gpu : groups_.all()[number]) ranks.push_back(topology::index(gpu));
    }
    out_.groups = groups.dump() + "\n";
    return std::move(out_);
  }

 private:
  /// Each after all that it comes after; else as they were added.
  std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> waits(program_.tasks(), 0), order;
    std::map<std::uint32_t, std::vector<std::uint32_t>> after;
    for (const auto& [later, earlier] : before_)
      for (const std::uint32_t each : earlier) {
        after[each].push_back(later);
        ++waits[later];
      }
    std::set<std::uint32_t> ready;
    for (std::uint32_t t = 0; t < waits.size(); ++t)
      if (waits[t] == 0) ready.insert(t);
    while (!ready.empty()) {
      const std::uint32_t task = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(task);
      if (const auto found = after.find(task); found != after.end())
        for (const std::uint32_t each : found->second)
          if (--waits[each] == 0) ready.insert(each);
    }
    return order;
  }

  ChakraNode& add_node(std::uint32_t rank, std::string name, ChakraType type, std::vector<std::uint64_t> after) {
    std::vector<ChakraNode>& nodes = out_.traces[rank].nodes;
    return nodes.emplace_back(
        ChakraNode{.id = nodes.size(), .name = std::move(name), .type = type, .after = std::move(after)});
  }

  /// What a rank's nodes of a task wait for: the last nodes there of what comes before it. What stands with other ranks
  /// alone sends it a word.
  std::vector<std::uint64_t> waits(std::uint32_t task, std::uint32_t rank, std::vector<std::uint64_t>& elsewhere) {
    std::vector<std::uint64_t> nodes;
    const auto before = before_.find(task);
    if (before == before_.end()) return nodes;
    for (const std::uint32_t earlier : before->second) {
      const auto found = last_[rank].find(earlier);
      if (found != last_[rank].end()) {
        nodes.insert(nodes.end(), found->second.begin(), found->second.end());
        continue;
      }
      Group common;
      std::ranges::set_intersection(ranks_of_[task], ranks_of_[earlier], std::back_inserter(common));
      if (!common.empty()) continue;  // it waits there
      elsewhere.push_back(earlier);
      nodes.push_back(word_from(topology::index(ranks_of_[earlier].front()), rank, earlier));
    }
    return nodes;
  }

  /// A message of one byte that says that a task of another rank has ended.
  std::uint64_t word_from(std::uint32_t source, std::uint32_t rank, std::uint32_t task) {
    const auto tag = static_cast<std::int32_t>(++words_);
    for (const ChakraType type : {ChakraType::send, ChakraType::receive}) {
      const bool sends = type == ChakraType::send;
      ChakraNode& node = add_node(sends ? source : rank, sends ? "tell" : "hear", type,
                                  sends ? last_[source].at(task) : std::vector<std::uint64_t>{});
      node.attributes = {{"is_cpu_op", false},
                         {"comm_src", static_cast<std::int32_t>(source)},
                         {"comm_dst", static_cast<std::int32_t>(rank)},
                         {"comm_tag", tag},
                         {"comm_size", std::int64_t{1}}};
    }
    return out_.traces[rank].nodes.back().id;
  }

  void add(std::uint32_t task) {
    const auto id = program_.communication(sim::TaskId{task});
    for (const GpuId gpu : ranks_of_[task]) {
      const std::uint32_t rank = topology::index(gpu);
      std::vector<std::uint64_t> elsewhere, after = waits(task, rank, elsewhere);
      const std::size_t first = out_.traces[rank].nodes.size();
      std::vector<std::uint64_t> last =
          id ? add_communication(gpu, *id, task, std::move(after)) : add_work(rank, task, std::move(after));
      for (std::size_t n = first; n < out_.traces[rank].nodes.size(); ++n) {
        std::vector<ChakraAttribute>& attributes = out_.traces[rank].nodes[n].attributes;
        attributes.push_back({kTaskAttribute, std::uint64_t{task}});
        if (id) attributes.push_back({kCommunicationAttribute, std::uint64_t{index(*id)}});
        if (!elsewhere.empty() && n == first) attributes.push_back({kAfterAttribute, elsewhere});
      }
      last_[rank][task] = std::move(last);
    }
  }

  std::string name(std::uint32_t task, const char* otherwise) const {
    return task < recorded_.names.size() && !recorded_.names[task].empty() ? recorded_.names[task] : otherwise;
  }

  /// Kernels; a delay; a moment, which of several ranks is a barrier.
  std::vector<std::uint64_t> add_work(std::uint32_t rank, std::uint32_t task, std::vector<std::uint64_t> after) {
    const Time duration{program_.graph().tasks()[task].amount};
    const auto engine = program_.engine(sim::TaskId{task});
    const bool on_gpu = engine || !program_.ranks(sim::TaskId{task}).empty();
    if (!on_gpu && duration == Time{} && ranks_of_[task].size() > 1) {
      ChakraNode& node = add_node(rank, name(task, "barrier"), ChakraType::collective, std::move(after));
      node.attributes = {{"is_cpu_op", false},
                         {"comm_type", static_cast<std::int64_t>(CollectiveType::barrier)},
                         {"comm_size", std::int64_t{0}},
                         {"pg_name", named(ranks_of_[task])},
                         {kDurationAttribute, std::int64_t{0}}};
      return {node.id};
    }
    ChakraNode& node = add_node(rank, name(task, on_gpu ? "kernels" : "host"), ChakraType::compute, std::move(after));
    node.duration_micros = micros(duration);
    node.attributes = {{"is_cpu_op", !on_gpu}, {kDurationAttribute, duration.value}};
    if (engine) node.attributes.push_back({kEngineAttribute, std::uint64_t{static_cast<std::uint32_t>(*engine)}});
    return {node.id};
  }

  /// A process group's name.
  std::string named(const Group& group) {
    const std::size_t number = groups_.number(group);
    named_.insert(number);
    return std::to_string(number + 1);
  }

  std::vector<std::uint64_t> add_communication(GpuId gpu, workload::CommunicationId id, std::uint32_t task,
                                               std::vector<std::uint64_t> after) {
    const Communication& communication = recorded_.communications[index(id)];
    if (communication.copy) return {add_copy(gpu, *communication.copy, task, std::move(after))};
    const bool at_once = communication.order == Communication::Order::side_by_side;
    std::vector<std::uint64_t> last = after, all;
    const auto add_all = [&](std::span<const workload::Collective> collectives, bool beside) {
      for (const workload::Collective& c : collectives) {
        const std::vector<std::uint64_t> made = add_collective(gpu, c, task, beside ? after : last);
        if (made.empty()) continue;  // others do this one
        last = made;
        if (beside) all.insert(all.end(), made.begin(), made.end());
      }
      if (beside && !all.empty()) last = all;
    };
    add_all(communication.collectives, at_once);
    add_all(communication.at_receiver, false);
    return last;
  }

  std::uint64_t add_copy(GpuId gpu, const workload::HostCopy& copy, std::uint32_t task,
                         std::vector<std::uint64_t> after) {
    const bool stores = copy.direction == topology::ToHost::yes;
    ChakraNode& node = add_node(topology::index(gpu), name(task, stores ? "copy to host" : "copy from host"),
                                stores ? ChakraType::memory_store : ChakraType::memory_load, std::move(after));
    node.attributes = {{"is_cpu_op", false}, {"tensor_size", static_cast<std::uint64_t>(copy.bytes.value)}};
    return node.id;
  }

  /// The nodes of the groups that a rank is in; none: it is in none.
  std::vector<std::uint64_t> add_collective(GpuId gpu, const workload::Collective& c, std::uint32_t task,
                                            const std::vector<std::uint64_t>& after) {
    std::vector<std::uint64_t> made;
    const std::uint32_t rank = topology::index(gpu);
    for (std::size_t i = 0; i < (recorded_.unfolded ? c.own : c.groups->size()); ++i) {
      const Group& group = (*c.groups)[i];
      if (std::ranges::find(group, gpu) == group.end()) continue;
      const std::string name = this->name(task, std::string(collectives::name(c.operation)).c_str());
      if (c.operation == Operation::send_recv) {
        const bool sends = gpu == group.front();
        ChakraNode& node = add_node(rank, name, sends ? ChakraType::send : ChakraType::receive, after);
        node.attributes = {{"is_cpu_op", false},
                           {"comm_src", static_cast<std::int32_t>(topology::index(group.front()))},
                           {"comm_dst", static_cast<std::int32_t>(topology::index(group.back()))},
                           {"comm_tag", std::int32_t{0}},
                           {"comm_size", c.bytes.value}};
        made.push_back(node.id);
        continue;
      }
      ChakraNode& node = add_node(rank, name, ChakraType::collective, after);
      node.attributes = {{"is_cpu_op", false},
                         {"comm_type", static_cast<std::int64_t>(type_of(c.operation))},
                         {"comm_size", size_in_traces(c.operation, c.bytes, group.size()).value},
                         {"pg_name", named(group)}};
      made.push_back(node.id);
    }
    return made;
  }

  const workload::RecordedProgram& recorded_;
  const workload::Program& program_;
  const std::vector<Group> ranks_of_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> before_;             // by task
  std::vector<std::map<std::uint32_t, std::vector<std::uint64_t>>> last_;  // by rank and task: its last nodes there
  NumberedGroups groups_;
  std::set<std::size_t> named_;  // of these, those that nodes name
  std::uint32_t words_ = 0;
  ChakraFiles out_;
};

}  // namespace

ChakraFiles traces_of(const workload::RecordedProgram& recorded, std::uint32_t ranks) {
  return ChakraWriter(recorded, ranks).write();
}

}  // namespace stepcast::language
