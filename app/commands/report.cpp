#include <vector>

#include "app/command.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/page.h"
#include "app/report/page_part.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine page_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("output", po::value<std::string>()->default_value("report.html"), "the file, .html");
  return {
      "usage: stepcast report RESULT.json... [OPTIONS]\n\n"
      "Makes one page of results that were kept: what --format json of run, validate, search, sensitivity, plan,\n"
      "collective or diff wrote, --format jsonl of sweep, or topology --json. A browser opens it without any network.\n"
      "docs/report.md says how to read it.\n\n"
      "  stepcast run scenarios/quickstart.yaml --format json --output a.json\n"
      "  stepcast report a.json --output report.html\n"
      "  stepcast report a.json b.json --output both.html",
      options};
}

int make_page(const std::vector<std::string>& words) {
  const auto values = parse_options(words, page_line());
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.empty()) throw InputError("stepcast report", "no result given; stepcast run --format json writes one");
  const std::string output = word(*values, "output");
  check_page(output, "--output");
  std::vector<std::filesystem::path> inputs;
  for (const std::string& path : paths) inputs.emplace_back(language::input_named(path));
  check_outputs(std::vector{named_output(output)}, inputs);
  std::vector<PagePart> parts;
  for (const std::filesystem::path& file : inputs) {
    const std::string shown = language::shown_path(file.string());
    parts.push_back(page_part(std::string(language::read_file(file.string(), shown)), shown));
  }
  write_output(output, html_page(parts));
  return kDone;
}

}  // namespace

extern const Command report_command;
constinit const Command report_command{"report", "one page of several results, for a browser", page_line, make_page};

}  // namespace stepcast::app
