#include <vector>

#include "collectives/algorithm.h"
#include "collectives/algorithms/offsets.h"
#include "collectives/algorithms/two_level_all_to_all.h"

namespace stepcast::collectives {
namespace {

/// Builds phases on top of each other: `ready[rank]` is what a rank must have finished before its next phase.
class Phases {
 public:
  explicit Phases(const Request& request)
      : request_(request),
        nodes_(request.nodes),
        gpus_(request.gpus()),
        sources_(request.fold.period != 0 ? request.fold.period : request.ranks),
        locals_(request.fold.rotate ? 1 : gpus_),
        ready_(std::size_t{sources_}) {
    plan_.ranks = request.ranks;
  }

  /// `steps` steps of a ring in each node. `block(local, step)` is the chunk that a rank of that local index sends.
  template <class Block>
  void inside(std::uint32_t steps, std::uint32_t reducing, Block block) {
    steps_on(
        gpus_, steps, reducing,
        [&](std::uint32_t node, std::uint32_t local, int by) {
          return node * gpus_ + (local + gpus_ + static_cast<std::uint32_t>(by)) % gpus_;
        },
        block);
  }

  /// Likewise a ring over the nodes for each local index.
  template <class Block>
  void between(std::uint32_t steps, std::uint32_t reducing, Block block) {
    steps_on(
        nodes_, steps, reducing,
        [&](std::uint32_t node, std::uint32_t local, int by) {
          return (node + nodes_ + static_cast<std::uint32_t>(by)) % nodes_ * gpus_ + local;
        },
        block);
  }

  CollectivePlan take() { return std::move(plan_); }
  CollectivePlan& plan() { return plan_; }

 private:
  /// The rank whose transfers stand for this one's.
  std::uint32_t stand_in(std::uint32_t rank) const {
    rank %= sources_;
    return request_.fold.rotate ? rank / gpus_ * gpus_ : rank;
  }

  template <class Neighbour, class Block>
  void steps_on(std::uint32_t ring, std::uint32_t steps, std::uint32_t reducing, Neighbour neighbour, Block block) {
    if (ring < 2) return;
    std::vector<ConnectionId> connection(sources_);
    std::vector<TransferId> sent(sources_), earlier(sources_);
    const auto each_source = [&](auto visit) {
      for (std::uint32_t source = 0; source < sources_; ++source) {
        if (source % gpus_ < locals_) visit(source, source / gpus_, source % gpus_);
      }
    };
    each_source([&](std::uint32_t source, std::uint32_t node, std::uint32_t local) {
      connection[source] = plan_.connect(source, neighbour(node, local, 1), channel_);
    });
    for (std::uint32_t step = 0; step < steps; ++step) {
      each_source([&](std::uint32_t source, std::uint32_t node, std::uint32_t local) {
        const Effect effect = step < reducing ? Effect::reduce : Effect::copy;
        const Transfer transfer{connection[source], block(node, local, step), effect};
        sent[source] = step == 0 ? plan_.add(transfer, ready_[source])
                                 : plan_.add(transfer, {earlier[stand_in(neighbour(node, local, -1))]});
      });
      earlier = sent;
    }
    // Done with a phase: the last block has come, and with it, in order, those before it.
    each_source([&](std::uint32_t source, std::uint32_t node, std::uint32_t local) {
      ready_[source] = {earlier[stand_in(neighbour(node, local, -1))]};
    });
    ++channel_;
  }

  const Request& request_;
  std::uint32_t nodes_, gpus_, sources_, locals_;
  std::uint32_t channel_ = 0;  // a new one per phase: phases do not queue behind each other
  std::vector<std::vector<TransferId>> ready_;
  CollectivePlan plan_;
};

CollectivePlan plan_hierarchical(const Request& request) {
  if (request.operation == Operation::all_to_all) return plan_two_level_all_to_all(request);
  const std::uint32_t nodes = request.nodes, gpus = request.gpus(), n = request.ranks;
  Phases phases(request);
  CollectivePlan& plan = phases.plan();
  const bool all_reduce = request.operation == Operation::all_reduce;

  // small(node, local): the block that is at home at that rank. whole(local): those of all the nodes together.
  // All-reduce is free to choose homes, and chooses them so that whole(local) is one stretch.
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t local = 0; local < gpus; ++local) {
      plan.add_chunk(all_reduce ? part(part(request.all(), gpus, local), nodes, node)
                                : part(request.all(), n, node * gpus + local));
    }
  }
  for (std::uint32_t local = 0; local < gpus; ++local) {
    std::vector<Range> stretches;
    if (all_reduce) stretches.push_back(part(request.all(), gpus, local));
    for (std::uint32_t node = 0; !all_reduce && node < nodes; ++node) {
      stretches.push_back(part(request.all(), n, node * gpus + local));
    }
    plan.add_chunk(stretches);
  }
  const auto small = [=](std::uint32_t node, std::uint32_t local) { return ChunkId{node % nodes * gpus + local}; };
  const auto whole = [=](std::uint32_t local) { return ChunkId{n + local % gpus}; };

  if (request.operation != Operation::all_gather) {
    phases.inside(gpus - 1, gpus - 1, [&](std::uint32_t, std::uint32_t local, std::uint32_t step) {
      return whole(local + 2 * gpus - 1 - step);
    });
    phases.between(all_reduce ? 2 * (nodes - 1) : nodes - 1, nodes - 1,
                   [&](std::uint32_t node, std::uint32_t local, std::uint32_t step) {
                     return small(node + 2 * nodes - 1 - step, local);
                   });
  } else {
    phases.between(nodes - 1, 0, [&](std::uint32_t node, std::uint32_t local, std::uint32_t step) {
      return small(node + nodes - step, local);
    });
  }
  if (request.operation != Operation::reduce_scatter) {
    phases.inside(gpus - 1, 0,
                  [&](std::uint32_t, std::uint32_t local, std::uint32_t step) { return whole(local + gpus - step); });
  }
  return phases.take();
}

}  // namespace

extern const Algorithm hierarchical;
constinit const Algorithm hierarchical{
    .name = "hierarchical",
    .summary =
        "rings inside the nodes, and for each local index one ring over the nodes; all_to_all likewise in two steps",
    .source = "Cho et al., BlueConnect, MLSys 2019; Hwang et al., Tutel, MLSys 2023 (all_to_all)",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.ranks >= 2 &&
                 (request.operation == Operation::all_reduce || request.operation == Operation::all_gather ||
                  request.operation == Operation::reduce_scatter || request.operation == Operation::all_to_all);
        },
    .plan = plan_hierarchical,
    .symmetry =
        [](const Request& request) {
          if (!request.pair_elements.empty()) return Symmetry{};
          if (request.operation == Operation::all_to_all) return Offsets::symmetry(request);
          return Symmetry{request.gpus(), request.gpus() > 1};
        }};

}  // namespace stepcast::collectives
