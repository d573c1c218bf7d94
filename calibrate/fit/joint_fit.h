#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/curve.h"
#include "calibrate/fit/transport_fit.h"
#include "topology/nccl_over_network.h"

namespace stepcast::calibrate {

/// A recorded curve, and what its times depend on.
struct Recording {
  Curve curve;
  std::string stack;    ///< what is NCCL's and the GPUs' own
  std::string link;     ///< of the nodes' adapters; empty inside a node
  std::string machine;  ///< one installation as one source recorded it: its curves are no witnesses for each other
  bool fitted = true;   ///< false: shown beside the others only
};

/// Where a joint fit starts.
struct JointStart {
  std::map<std::string, collectives::Transport> stacks;
  std::map<std::string, std::string> families;  ///< of each link
};

struct StackFit {
  collectives::Transport transport;
  std::vector<FittedConstant> constants;  ///< all but those of the network
};

struct LinkFit {
  topology::NcclOverNetwork nccl;
  std::vector<FittedConstant> constants;  ///< named as in configs/links/, below `nccl`
};

struct JointFit {
  std::map<std::string, StackFit> stacks;
  std::map<std::string, LinkFit> links;
  std::map<std::string, std::size_t> machines;  ///< what was fitted to, and how many points of each
  std::vector<std::vector<Time>> predicted;     ///< of each recording, by all that was fitted
  /// Likewise, by what is fitted where its machine is left out. Empty unless asked for, and of those not fitted to.
  std::vector<std::vector<Time>> left_out;
};

/// Told now and then: how many curves were played, and the least sum of squares so far.
using FitProgress = std::function<void(std::size_t played, double squares)>;

/// Fits the constants of all stacks and all links together to all recordings: Cauchy's robust least squares on log
/// time.
///
/// A constant of a stack is drawn weakly to the mean of what the other stacks have of that name; one of a link to the
/// mean of its family, which is drawn to that of all families; and those to the start. So what recordings tell, they
/// decide; what no recording of a stack or a link tells is as on the others of its kind, and says so (`why`). A machine
/// counts as 60 points at most, however many were recorded of it. Times of the network are the links' alone: a stack's
/// come out as zero, with `network_of_links`.
///
/// `leave_out`: for each machine, what is fitted to all others. From the joint fit, by Gauss and Newton with the joint
/// fit's slopes until the sum of squares falls by less than a thousandth; the constants of its stack and link move.
///
/// The same on any number of threads. Takes minutes of many cores.
JointFit fit_together(std::span<const Recording> recordings, const JointStart& start, bool leave_out,
                      const FitProgress& progress = {});

}  // namespace stepcast::calibrate
