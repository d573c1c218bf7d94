#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast` without a command, and `stepcast --help`, print.
std::string help_text();

/// What a command says of itself, as it is; where a terminal shows it, its paragraphs are as wide as that. Lines that
/// begin with a blank are examples and stand alone; those that are too wide go on behind a backslash, as a shell reads
/// them.
std::string usage_text(const std::string& usage);

/// The list of a command's options, no wider than the terminal that shows it.
std::string options_text(const boost::program_options::options_description& options);

}  // namespace stepcast::app
