#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/answers.h"
#include "app/options.h"
#include "app/output.h"

namespace stepcast::app {

/// What every subcommand that forecasts scenarios is asked with.
struct Asked {
  boost::program_options::variables_map values;
  std::vector<std::string> paths, settings;
  Format format = Format::table;
  std::string output;
  unsigned threads = 0;
};

/// What such a subcommand understands; `more` are its own options.
CommandLine asked_line(const std::string& usage, const boost::program_options::options_description& more);

/// Parses the words by what asked_line() returned. Nothing for --help. Throws InputError.
std::optional<Asked> parse_asked(const std::vector<std::string>& words, const CommandLine& line);

/// Reads the scenarios. Those of files that cannot run are told on stderr, and then there is nothing.
std::optional<std::vector<Question>> questions_asked(const Asked& asked);

/// Says on stderr of which tables (or folders of scenario files) nothing could be run. Whether there are any: that is
/// kFailed, while some rows among others say why in the output.
bool some_table_failed(std::span<const Answer> answers);

/// The errors of the committed corpus (configs/residuals.csv).
std::vector<calibrate::Residual> measured_residuals();

}  // namespace stepcast::app
