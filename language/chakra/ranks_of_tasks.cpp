#include "language/chakra/ranks_of_tasks.h"

#include <algorithm>
#include <span>

namespace stepcast::language {
namespace {

using collectives::Group;
using workload::Communication;

/// What a communication leaves, or who begins it.
enum class End : bool { from, to };

void tidy(Group& ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

void add(Group& to, std::span<const topology::GpuId> more) { to.insert(to.end(), more.begin(), more.end()); }

/// The ranks where what a communication brings is, or where it comes from: of messages one of the two.
Group ranks_at(End end, const Communication& communication, bool unfolded) {
  const auto is_message = [](const workload::Collective& c) {
    return c.operation == collectives::Operation::send_recv;
  };
  if (communication.copy || !std::ranges::all_of(communication.collectives, is_message))
    return ranks_of(communication, unfolded);
  Group ranks;
  for (const workload::Collective& c : communication.collectives)
    for (std::size_t i = 0; i < (unfolded ? c.own : c.groups->size()); ++i)
      ranks.push_back(end == End::to ? (*c.groups)[i].back() : (*c.groups)[i].front());
  tidy(ranks);
  return ranks;
}

/// Tasks of no known rank, and what they wait for or what waits for them.
class Unplaced {
 public:
  explicit Unplaced(const workload::RecordedProgram& recorded) : recorded_(recorded), ranks_(recorded.program.tasks()) {
    for (std::uint32_t t = 0; t < ranks_.size(); ++t) {
      if (const auto id = recorded.program.communication(sim::TaskId{t}))
        ranks_[t] = ranks_of(recorded.communications[index(*id)], recorded.unfolded);
      else
        add(ranks_[t], recorded.program.ranks(sim::TaskId{t}));
    }
  }

  std::vector<Group> place() {
    // Most of what is unknown comes right after or before kernels; rarely there is a chain of it.
    while (spread(End::to, false) || spread(End::from, false)) continue;
    while (spread(End::to, true) || spread(End::from, true)) continue;
    for (Group& ranks : ranks_)
      if (ranks.empty()) ranks.push_back(topology::GpuId{0});
    return std::move(ranks_);
  }

 private:
  /// From what is known to what is not and comes after it (End::to) or before it. Whether anything was.
  bool spread(End end, bool from_communications) {
    std::vector<Group> more(ranks_.size());
    for (const auto& [earlier, later] : recorded_.program.graph().dependencies()) {
      const std::uint32_t known = sim::index(end == End::to ? earlier : later),
                          other = sim::index(end == End::to ? later : earlier);
      if (!ranks_[other].empty() || ranks_[known].empty()) continue;
      const auto id = recorded_.program.communication(sim::TaskId{known});
      if (!id)
        add(more[other], ranks_[known]);
      else if (from_communications)
        add(more[other], ranks_at(end, recorded_.communications[index(*id)], recorded_.unfolded));
    }
    bool any = false;
    for (std::size_t t = 0; t < more.size(); ++t) {
      if (more[t].empty()) continue;
      tidy(more[t]);
      ranks_[t] = std::move(more[t]);
      any = true;
    }
    return any;
  }

  const workload::RecordedProgram& recorded_;
  std::vector<Group> ranks_;
};

}  // namespace

Group ranks_of(const Communication& communication, bool unfolded) {
  Group ranks;
  const auto add_all = [&](std::span<const workload::Collective> collectives) {
    for (const workload::Collective& c : collectives)
      for (std::size_t i = 0; i < (unfolded ? c.own : c.groups->size()); ++i) add(ranks, (*c.groups)[i]);
  };
  add_all(communication.collectives);
  add_all(communication.at_receiver);
  if (const std::optional<workload::HostCopy>& copy = communication.copy)
    add(ranks, std::span(copy->gpus).first(unfolded ? copy->own : copy->gpus.size()));
  tidy(ranks);
  return ranks;
}

std::vector<Group> ranks_of_tasks(const workload::RecordedProgram& recorded) { return Unplaced(recorded).place(); }

}  // namespace stepcast::language
