#include "app/keys.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "app/read/cluster.h"
#include "app/read/files.h"
#include "app/read/model.h"
#include "app/read/network.h"
#include "app/read/profile.h"
#include "app/read/scenario.h"
#include "app/read/schema.h"
#include "app/report/columns.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// "|" would end a cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void add_block(std::string& out, const Schema& schema) {
  out += fmt::format("\n## {}{}\n\n", schema.title,
                     schema.folder.empty() ? "" : fmt::format(" (configs/{}/)", schema.folder));
  out += "| key | value | default | |\n|---|---|---|---|\n";
  for (const KeyInfo& key : schema.keys)
    out += fmt::format("| `{}` | {} | {} | {} |\n", key.path, cell(expected(key.type)), cell(key.fallback),
                       cell(key.help));
}

std::string markdown() {
  std::string out =
      "# Scenario reference\n\n"
      "Made by `stepcast keys --format markdown` from the tables that read scenarios. Quantities carry their unit: `25 "
      "GB/s`,\n"
      "`200 Gbit/s`, `1.3 us`, `80 GiB`, `312 TFLOP/s` (GB is 1e9 bytes, GiB 2^30). A name where a block may stand is "
      "a file\n"
      "of configs/; `base:` starts from such a file, `include:` merges other files underneath.\n";
  add_block(out, scenario_schema());
  for (const Schema* schema : {&cluster_schema(), &model_schema(), &node_schema(), &gpu_schema(), &link_schema(),
                               &fabric_schema(), &software_schema(), &profile_schema()})
    add_block(out, *schema);
  add_block(out, network_schema());
  return out;
}

std::string table() {
  Columns out({{"key", Columns::Align::left}, {"default", Columns::Align::left}, {"", Columns::Align::left}});
  for (const KeyInfo& key : scenario_schema().keys)
    out.add({std::string(key.path), std::string(key.fallback), std::string(key.help)});
  return out.text();
}

}  // namespace

int keys(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("format", po::value<std::string>()->default_value("table"), "table or markdown")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  const auto values =
      parse_options(words, "usage: stepcast keys [OPTIONS]\n\nPrints every key of the scenario language.", options);
  if (!values) return kDone;
  const auto format = (*values)["format"].as<std::string>();
  if (format != "table" && format != "markdown")
    throw InputError("--format", "found '" + format + "', expected table or markdown");
  write_output((*values)["output"].as<std::string>(), format == "markdown" ? markdown() : table());
  return kDone;
}

}  // namespace stepcast::app
