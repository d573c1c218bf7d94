#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/answers.h"
#include "app/format.h"
#include "app/named_files.h"
#include "app/options.h"

namespace stepcast::app {

/// What every subcommand that forecasts scenarios is asked with.
struct Asked {
  boost::program_options::variables_map values;
  std::vector<std::string> paths, settings;
  Format format = Format::table;
  std::string output;
  unsigned threads = 0;
};

/// What such a subcommand understands; `more` are its own options, `formats` the words behind --format.
CommandLine asked_line(const std::string& usage, const boost::program_options::options_description& more,
                       std::vector<std::string> formats = {"table", "json", "csv"});

/// Parses the words by what asked_line() returned. Nothing for --help. Throws InputError.
std::optional<Asked> parse_asked(const std::vector<std::string>& words, const CommandLine& line);

/// Files that will be written and are named after the scenarios that were read.
using MoreOutputs = std::function<std::vector<NamedFile>(const std::vector<language::Question>&)>;

/// Reads the scenarios. Those of files that the command names and that cannot run are told on stderr, and then there is
/// nothing. `outputs`: files that will be written, --output aside; `inputs`: files that are read besides. Throws
/// InputError where one output is another one, or a file that is read. `more`: what the command cannot do with a
/// scenario that may be forecast. `more_outputs`: outputs whose names the scenarios decide.
std::optional<std::vector<language::Question>> questions_asked(const Asked& asked, std::vector<NamedFile> outputs,
                                                               std::vector<std::filesystem::path> inputs = {},
                                                               const language::MoreChecks& more = {},
                                                               const MoreOutputs& more_outputs = {});

/// Whether some rows of tables, or files of folders, could not be run: that is kFailed. Says on stderr how many of how
/// many, and why the first. (All say why in the output.)
bool some_failed(std::span<const Answer> answers);
/// The same of questions that failed, of so many.
bool some_failed(std::span<const language::Question* const> failed, std::size_t all);

/// The errors of the committed corpus (configs/residuals.csv).
std::vector<calibrate::Residual> measured_residuals();

}  // namespace stepcast::app
