#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::app {

/// What `stepcast import` calls the programs that know a site's network: "slurm", "topograph", "ibnetdiscover" and
/// "iblinkinfo".
std::vector<std::string> site_programs();

/// The options of all of them. Those that name plans of a framework take none.
void add_site_options(boost::program_options::options_description& options);

/// The names of these options.
std::vector<const char*> site_options();

/// Writes a cluster file of what one of these programs read or printed. Throws InputError.
void import_site(const boost::program_options::variables_map& values);

}  // namespace stepcast::app
