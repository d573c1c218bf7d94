#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stepcast::app {

/// What a subcommand understands: its help, the manual page and completion are made of it.
struct CommandLine {
  std::string usage;  ///< "usage: stepcast ...", an empty line, what it does
  boost::program_options::options_description options;
  std::vector<std::string> formats = {"table", "json", "csv"};  ///< words behind --format, where it is an option
  bool sets_scenarios = false;  ///< --set takes all keys of scenarios, else those of machines
  bool takes_empty = false;     ///< a positional word may be empty
};

/// Parses a subcommand's words: its options and positional words under the name "path". Prints the usage and the
/// options and returns nothing for --help. Throws InputError for words it does not know, the nearest option named, and
/// for empty ones.
std::optional<boost::program_options::variables_map> parse_options(const std::vector<std::string>& words,
                                                                   CommandLine line);

/// Throws InputError of the command where one of its positional words is empty.
void refuse_empty_words(std::span<const std::string> words, const std::string& command);

/// What was given for an option that takes a word.
std::string word(const boost::program_options::variables_map& values, const char* option);

/// Throws InputError where one of `others` is given beside `option`, which makes nothing of it.
void refuse_beside(const boost::program_options::variables_map& values, const std::string& option,
                   std::initializer_list<const char*> others);

/// Throws InputError where one of `others` is given with `what` ("a table of multiplies"), which makes nothing of it.
void refuse_with(const boost::program_options::variables_map& values, const std::string& what,
                 std::initializer_list<const char*> others);

/// 0 for no word; else a whole number from 1 to `most`. (Boost would read "-1" as 4294967295.)
/// Throws InputError naming the option.
std::uint32_t parse_count(const std::string& word, const std::string& option, std::uint32_t most);

}  // namespace stepcast::app
