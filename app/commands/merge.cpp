#include "app/sweep/merge.h"

#include "app/command.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine merge_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("output", po::value<std::string>()->default_value("", ""),
                        "write to this file; -: standard output");
  return {
      "usage: stepcast merge FILE... [OPTIONS]\n\n"
      "Makes one of the files that 'stepcast sweep --shard 1/N' to 'N/N' wrote: the bytes that the whole sweep "
      "writes.\n\n"
      "  stepcast merge rows-1.csv rows-2.csv rows-3.csv rows-4.csv --output rows.csv\n"
      "  stepcast merge rows-*.jsonl",
      options};
}

int merge(const std::vector<std::string>& words) {
  const auto values = parse_options(words, merge_line());
  if (!values) return kDone;
  const auto files = (*values)["path"].as<std::vector<std::string>>();
  if (files.empty()) throw InputError("stepcast merge", "no file given, expected those of all shards of a sweep");
  const std::string output = word(*values, "output");
  check_outputs(std::vector<NamedFile>{named_output(output)},
                std::vector<std::filesystem::path>(files.begin(), files.end()));
  write_output(output, merged(files));
  return kDone;
}

}  // namespace

extern const Command merge_command;
constinit const Command merge_command{"merge", "make one of the shards of a sweep", merge_line, merge};

}  // namespace stepcast::app
