#pragma once

#include <span>
#include <string>
#include <string_view>

#include "topology/cluster.h"

namespace stepcast::topology {

/// Writes a cluster down in the language of another program.
struct Export {
  std::string_view name, summary;  ///< as an option of `stepcast topology` is called, and its line of help
  /// Only the first node in use is written. Help lists such exports behind those of the whole cluster.
  bool one_node = false;
  /// Throws InputError for a cluster that the language cannot say.
  std::string (*write)(const Cluster& cluster) = nullptr;
};

/// All exports, in the order of help. A new one is a file of exports/ and a line of this list.
std::span<const Export* const> exports();

}  // namespace stepcast::topology
