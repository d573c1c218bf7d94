#pragma once

#include <boost/program_options.hpp>
#include <vector>

#include "app/read_file.h"

namespace stepcast::app {

/// `stepcast fit LOG...`: fits a stack's transport to logs of nccl-tests on the machine that the options name; see
/// read_setting. Returns an exit status.
int fit_transport_to_logs(const std::vector<ReadFile>& logs, const boost::program_options::variables_map& values);

}  // namespace stepcast::app
