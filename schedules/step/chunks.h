#pragma once

#include <map>
#include <string>
#include <vector>

#include "schedules/cost/pass.h"
#include "schedules/memory/memory.h"
#include "schedules/parallel/ranks.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// A part of a model chunk that runs and communicates as a whole: the embedding, one layer, the head.
struct Piece {
  PassTime forward, backward;  ///< backward with what is recomputed
  PassTime recompute;          ///< that part of backward
  double parameters = 0;       ///< on one tensor rank
};

/// What one virtual stage of one stage runs, in forward order.
struct Chunk {
  std::vector<Piece> pieces;
  PassTime forward, backward;
};

/// Times the pieces of a plan. Remembers by where in its node a tensor group stands.
class PieceTimes {
 public:
  PieceTimes(const Scenario& scenario, const Ranks& ranks, collectives::Timer& timer, std::uint32_t gpus_per_node,
             bool fold);

  struct Times {
    Piece embedding, layer, head;
    std::vector<collectives::Timing::Load> layer_traffic;  ///< of one layer, forward and backward together
  };
  const Times& at(Coordinate c);

  /// Virtual stage `virtual_stage` at `c`.
  Chunk chunk(Coordinate c, std::uint32_t virtual_stage);

 private:
  const Scenario& scenario_;
  const Ranks& ranks_;
  collectives::Timer& timer_;
  std::uint32_t gpus_per_node_;
  bool fold_;
  std::map<std::uint32_t, Times> times_;
};

}  // namespace stepcast::schedules
