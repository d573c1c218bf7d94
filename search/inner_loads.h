#pragma once

#include <span>
#include <vector>

#include "schedules/pass_times/chunks.h"
#include "topology/cluster.h"

namespace stepcast::search {

/// How long the traffic inside layers keeps links busy, that of all groups which a rank shares links with: of one
/// micro-batch forward and backward, by kind of block.
class InnerLoads {
 public:
  /// `capacities`: of links, by LinkId.
  InnerLoads(const std::vector<schedules::PieceTimes::TimedPiece>& kinds, std::span<const Bandwidth> capacities);

  struct InnerLoad {
    topology::LinkId link{};
    std::vector<double> seconds;  ///< by kind
  };
  /// Of every link that it loads.
  const std::vector<InnerLoad>& links() const { return links_; }

  /// Of the busiest link, where each kind of block runs so many times. O(kinds) and a little more: links that are busy
  /// alike count once.
  double busiest(std::span<const double> times) const;

 private:
  std::vector<InnerLoad> links_;
  std::vector<std::vector<double>> unlike_;  ///< of links no other of which is as busy by any kind
};

}  // namespace stepcast::search
