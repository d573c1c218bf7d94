#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "scenario/scenario.h"
#include "topology/cluster.h"

namespace stepcast::app {

/// Where a collective runs, and with which stack.
struct Setting {
  schedules::ClusterSpec cluster;
  schedules::Software software;
  std::string stack;  ///< the software as it was named, or that of such machines: a file of configs/software/
  std::vector<std::string> notes{};  ///< what was assumed where nobody said it
};

/// cluster, node, nodes, gpus and allocation.
void add_cluster_options(boost::program_options::options_description& options);

/// From the options cluster, node, nodes, gpus, allocation, software, protocol, max-channels and set, those that
/// `command` has. Without software, the stack that was fitted on such machines. Throws InputError with the flag.
Setting read_setting(const std::string& command, const boost::program_options::variables_map& values,
                     language::Library& library);

/// The cluster of the options nodes, gpus and allocation. Throws InputError, with the one of them that is given, where
/// it cannot be built.
topology::Cluster build_as_asked(const schedules::ClusterSpec& cluster,
                                 const boost::program_options::variables_map& values);

}  // namespace stepcast::app
