#pragma once

#include <boost/program_options.hpp>
#include <string>

namespace stepcast::app {

/// Adds --report to what a subcommand understands.
void add_report_option(boost::program_options::options_description& options);

/// The file behind --report; empty: none is asked for. Throws InputError where it cannot be made.
std::string report_asked(const boost::program_options::variables_map& values);

}  // namespace stepcast::app
