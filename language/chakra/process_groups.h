#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "language/chakra/traces.h"
#include "workload/communication.h"

namespace stepcast::language {

/// Process groups by name, of a file as ASTRA-sim has it, {"1": [0, 2]}, and of PyTorch's metadata nodes.
class ProcessGroups {
 public:
  /// Throws InputError with the file or node where ranks are none of so many, or none.
  ProcessGroups(const CheckedTraces& checked, const Traces& traces);

  /// The group that a collective's node names with pg_name: of no name, and of the name 0, which nobody defines, all
  /// ranks. Throws InputError where there is none of this name, or the node's rank is not in it.
  const collectives::Group& of(NodePlace node) const;

 private:
  void read_file(const Traces& traces);
  void read_metadata(NodePlace node);

  const CheckedTraces& checked_;
  const std::string& file_;
  const bool has_file_;
  collectives::Group all_;
  std::map<std::string, collectives::Group> groups_;
};

}  // namespace stepcast::language
