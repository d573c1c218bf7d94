#pragma once

#include <string_view>

#include "collectives/plan.h"
#include "collectives/request.h"

namespace stepcast::collectives {

/// A way to do collectives: a name for users, and a pure function. algorithms.h lists them all.
struct Algorithm {
  std::string_view name, summary, source;
  bool tree = false;                            ///< Transport::tree_efficiency applies
  bool has_servers = false;                     ///< Request::servers means something to it
  bool needs_links = false;                     ///< Request::links must be there
  bool in_nvswitch = false;                     ///< NVSwitches make its sums: Transport::nvls applies
  bool simple_alone = false;                    ///< the library has it by the Simple protocol only
  bool peers_in_turn = false;                   ///< a rank sends to one other at a time, not to all of them at once
  std::string_view needs = {};                  ///< of the machine, in the words of messages
  bool (*automatic)(const Request&) = nullptr;  ///< "auto" considers it: the machine's library has it
  bool (*supports)(const Request&) = nullptr;   ///< looks at all but elements, pieces, rounds and fold
  /// The connections of a plan depend on nothing but operation, ranks, nodes, channels, fold, servers and links.
  CollectivePlan (*plan)(const Request&) = nullptr;
  Symmetry (*symmetry)(const Request&) = nullptr;  ///< the largest symmetry of its plan, if all parts were of one size
};

}  // namespace stepcast::collectives
