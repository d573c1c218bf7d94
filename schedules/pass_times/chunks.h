#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/cost/pass.h"
#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/offload/copies.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// What kernels are timed by on the scenario's GPUs, their hosts left aside.
KernelCost cost_of(const Scenario& scenario);

/// What the kernels of a block are timed by. `ranks`: the scenario's.
KernelCost cost_of(const Scenario& scenario, const Ranks& ranks, const Block& block);

/// What the passes of a block are made of.
struct PieceParts {
  PassParts forward, backward, recompute, weight;  ///< backward without what is recomputed
  PassParts before_backward;                       ///< copies that begin with it, or with what is recomputed
};

/// A block on one rank.
struct Piece {
  PassTime forward, backward;         ///< backward with what is recomputed
  PassTime recompute, gradients;      ///< the two parts of backward, one after the other
  PassTime weight;                    ///< gradients of weights, where backward leaves them to a pass of their own
  double parameters = 0;              ///< on one tensor rank
  double experts = 0;                 ///< of those, of experts that the expert ranks share out
  double stored = 0;                  ///< as many as would take their bytes in the training's precision (frozen.h)
  double trained = 0;                 ///< of all, with a gradient
  double trained_experts = 0;         ///< of these, of experts that the expert ranks share out
  const PieceParts* parts = nullptr;  ///< where somebody wants to see them
};

/// What each kernel adds to the passes of a block.
struct PieceShares {
  std::vector<KernelShare> forward, recompute, backward, weight;
};

/// What one virtual stage of one stage runs, in forward order.
struct Chunk {
  std::vector<Piece> pieces;
  PassTime forward, backward, weight;
};

/// What one pass of a piece or a chunk takes.
template <class PieceOrChunk>
PassTime time_of(const PieceOrChunk& part, PassKind kind) {
  switch (kind) {
    case PassKind::forward:
      return part.forward;
    case PassKind::backward:
      return part.backward;
    case PassKind::weight:
      return part.weight;
    case PassKind::whole_backward:
      return part.backward + part.weight;
  }
  return {};
}

/// What a backward pass of a piece takes without what it recomputes.
inline PassTime gradients_of(const Piece& piece, PassKind kind) {
  return kind == PassKind::whole_backward ? piece.gradients + piece.weight : piece.gradients;
}

/// A stretch of compute: what it takes, and where somebody wants to see it what it is made of, in order.
struct Stretch {
  PassTime time;
  std::vector<const PassParts*> parts{};
  /// The parts are those of two passes that run together: all kernels, and all traffic beside them.
  bool at_once = false;

  /// What one pass of a piece takes. `recompute`: with what it recomputes.
  void add(const Piece& piece, PassKind kind, bool recompute = true);
};

/// What a piece recomputes.
Stretch recompute_of(const Piece& piece);

/// One pass of a chunk, and two that run together.
Stretch stretch_of(const Chunk& chunk, PassKind kind);
Stretch together(const Stretch& a, const Stretch& b);

/// GPUs of a second kind: the scenario as they see it, and its blocks.
struct OtherKind {
  const Scenario& scenario;
  const Blocks& blocks;
};

/// Which time a collective takes whose siblings, groups that do the same at the same time on links that they share,
/// take unlike times.
enum class SiblingTime : std::uint8_t {
  all,    ///< each group its own with all of them at work; where they are folded to one, that of the last to end
  first,  ///< every group that of the first to end
  any,    ///< what a group takes at least, whichever of the others are at work beside it
  bound   ///< no more than `all`, and found faster than that (collectives::Timer::least)
};

class LayerTraffic;

/// Times the pieces of a plan. Remembers by where in its node a tensor group stands, if layers have any traffic.
class PieceTimes {
 public:
  PieceTimes(const Scenario& scenario, const Blocks& blocks, const Ranks& ranks, const collectives::Timer& timer,
             bool fold, bool splits_backward, std::optional<OtherKind> other = {}, const HostCopies* copies = nullptr,
             SiblingTime siblings = SiblingTime::all);

  /// A kind of block at one place in a node.
  struct TimedPiece {
    Piece piece;
    std::vector<collectives::SharedTiming> traffic;  ///< its tensor collectives, forward and backward together
    std::unique_ptr<PieceParts> parts;
    PieceShares shares{};  ///< where somebody wants to see them
  };
  const std::vector<TimedPiece>& at(Coordinate c);  ///< by Blocks::kinds
  /// The same if it was timed for `c` itself, so that it loads the links of `c`; null where another in the same place
  /// of its node was asked for before, and nothing asked for `c` yet.
  const std::vector<TimedPiece>* timed_for(Coordinate c) const;

  /// What a kind of block takes forward and backward, with what it recomputes, by the classes of kernels and the ranks
  /// that traffic inside the layer is among, each of which is alone.
  struct PieceClasses {
    Time multiplies{}, attention{}, memory_bound{};
    Time among_tensor{}, among_context{}, among_experts{};  ///< what no kernels beside it hide
  };
  std::vector<PieceClasses> classes_at(Coordinate c);  ///< by Blocks::kinds

  /// From now on, of places that were not asked for yet, TimedPiece::shares is filled.
  void keep_shares() { keeps_shares_ = true; }

  /// Whether all groups that do the same at the same time take the same time, of those timed so far.
  bool alike() const { return alike_; }

  /// What the rank at `c` runs of a stage that holds `chunks`: virtual stage `virtual_stage`.
  Chunk chunk(Coordinate c, std::span<const BlockRange> chunks, std::uint32_t virtual_stage);

 private:
  bool is_other_kind(Coordinate c) const;
  /// Ranks of one place have the same times.
  std::uint32_t place_of(Coordinate c) const;
  /// Of a collective among ranks beside each other, whose groups `traffic` has.
  collectives::SharedTiming timing_of(const TensorCollective& collective, const LayerTraffic& traffic);

  const Scenario& scenario_;
  const Blocks& blocks_;
  const Ranks& ranks_;
  const collectives::Timer& timer_;
  bool fold_, splits_backward_, alike_ = true, keeps_shares_ = false;
  SiblingTime siblings_;
  std::optional<OtherKind> other_;
  const HostCopies* copies_;
  bool has_traffic_;  ///< inside any block; without it all places in a node are one
  struct Timed {
    topology::GpuId first;  ///< of the tensor group that was asked for
    std::vector<TimedPiece> kinds;
  };
  std::map<std::uint32_t, Timed> timed_;  ///< by place_of
};

}  // namespace stepcast::schedules
