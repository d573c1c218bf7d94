#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast fit --runs TABLE...`: fits the constants of a software stack and a site to a user's own measured steps,
/// and writes them as a file for `software:`. Returns an exit status.
int fit_to_runs(const std::vector<std::string>& paths, const boost::program_options::variables_map& values);

}  // namespace stepcast::app
