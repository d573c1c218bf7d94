#pragma once

#include <boost/program_options.hpp>
#include <string_view>

namespace stepcast::app {

/// What `stepcast import` calls the files of Slurm.
inline constexpr std::string_view kSlurm = "slurm";

/// The options of `stepcast import slurm`.
void add_site_options(boost::program_options::options_description& options);

/// Writes a cluster file of Slurm's topology.conf. Throws InputError.
void import_site(const boost::program_options::variables_map& values);

}  // namespace stepcast::app
