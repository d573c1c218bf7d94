#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stepcast::app {

/// Parses a subcommand's words: `options` and positional words under the name "path". Prints `usage` and the options
/// and returns nothing for --help. Throws InputError for words it does not know, the nearest option named.
std::optional<boost::program_options::variables_map> parse_options(const std::vector<std::string>& words,
                                                                   const std::string& usage,
                                                                   boost::program_options::options_description options);

}  // namespace stepcast::app
