#include "app/import_site.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/status_line.h"
#include "language/configs/cluster.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "language/core/yaml.h"
#include "language/sites/cluster_of_site.h"
#include "language/sites/iblinkinfo.h"
#include "language/sites/ibnetdiscover.h"
#include "language/sites/slurm_nodes.h"
#include "language/sites/slurm_topology.h"
#include "language/sites/slurm_topology_yaml.h"
#include "language/sites/topograph.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::app {
namespace {

constexpr const char* kJobList = "SLURM_JOB_NODELIST";

/// What is read of a site: its network, and its nodes where the same file has them.
using language::SiteOfLabels;

/// A program that knows a site's network.
struct SiteProgram {
  const char* name;
  const char* file;                    ///< what it is given, for messages
  std::vector<const char*> options{};  ///< that it alone takes
  SiteOfLabels (*read)(const std::string& text, const std::string& file,
                       const boost::program_options::variables_map& values);
};

std::vector<std::string> names_of_option(const boost::program_options::variables_map& values, const char* option) {
  const std::string list = word(values, option);
  if (list.empty()) return {};
  return topology::expand_hostlist(list, std::string("--") + option);
}

std::vector<std::string> label_keys(const boost::program_options::variables_map& values) {
  std::vector<std::string> keys;
  const std::string list = word(values, "labels");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin)
      throw InputError("--labels", "found " + in_quotes(list) + ", expected keys with commas between them");
    keys.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

const std::vector<SiteProgram>& all_programs() {
  using Values = boost::program_options::variables_map;
  using Text = const std::string&;
  static const std::vector<SiteProgram> all{
      {"slurm",
       "topology.conf or topology.yaml",
       {"scontrol", "topology"},
       [](Text text, Text file, const Values& values) -> SiteOfLabels {
         const std::string ending = std::filesystem::path(file).extension().string();
         if (ending == ".yaml" || ending == ".yml")
           return {language::read_slurm_topology_yaml(text, file, word(values, "topology"))};
         refuse_with(values, "topology.conf", {"topology"});
         return {language::read_slurm_topology(text, file)};
       }},
      {"topograph",
       "JSON of nodes",
       {"labels"},
       [](Text text, Text file, const Values& values) {
         return language::read_topograph(text, file, label_keys(values));
       }},
      {"ibnetdiscover",
       "text that ibnetdiscover printed",
       {"hcas"},
       [](Text text, Text file, const Values& values) -> SiteOfLabels {
         return {language::site_of_infiniband(language::read_ibnetdiscover(text, file), names_of_option(values, "hcas"),
                                              file)};
       }},
      {"iblinkinfo",
       "text that iblinkinfo printed",
       {"hcas"},
       [](Text text, Text file, const Values& values) -> SiteOfLabels {
         return {language::site_of_infiniband(language::read_iblinkinfo(text, file), names_of_option(values, "hcas"),
                                              file)};
       }},
  };
  return all;
}

const SiteProgram& program_named(const std::string& name) {
  const auto at = std::ranges::find_if(all_programs(), [&](const SiteProgram& each) { return each.name == name; });
  return *at;
}

/// The options of a site's programs that this one does not take are an error.
void refuse_others(const boost::program_options::variables_map& values, const SiteProgram& program) {
  for (const SiteProgram& other : all_programs())
    for (const char* const option : other.options)
      if (std::ranges::none_of(program.options, [&](const char* own) { return std::string_view(own) == option; }))
        refuse_with(values, std::string("the files of ") + program.name, {option});
}

double oversubscription(const std::string& said) {
  double value = 0;
  const auto [rest, error] = std::from_chars(said.data(), said.data() + said.size(), value);
  if (error != std::errc{} || rest != said.data() + said.size() || !(value >= 1 && value <= 1000))
    throw InputError("--oversubscription",
                     "found " + in_quotes(said) + ", expected a number from 1 to 1000, such as 2");
  return value;
}

/// A cluster file, read as it will be, so that what is wrong with it is said now.
void check_cluster(const std::string& text, const std::string& shown, language::Library& library) {
  language::Value value;
  const language::Node whole = library.expand_block(language::parse_yaml(text, shown), language::cluster_schema(), "");
  value.node = &whole;
  value.library = &library;
  language::finish(language::read_block(language::cluster_table(), value), value);
}

}  // namespace

std::vector<std::string> site_programs() {
  std::vector<std::string> names;
  for (const SiteProgram& program : all_programs()) names.emplace_back(program.name);
  return names;
}

std::vector<const char*> site_options() {
  return {"node", "nodelist", "oversubscription", "scontrol", "topology", "labels", "hcas"};
}

void add_site_options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  const auto text = [] { return po::value<std::string>()->default_value("", ""); };
  options.add_options()("node", text(), "a site's network: the machine that the nodes are, of configs/nodes/")(
      "nodelist", text(),
      "a site's network: the job's nodes, such as 'gpu[001-064]', in the order of its ranks; otherwise "
      "SLURM_JOB_NODELIST, or all")("oversubscription", text(),
                                    "a site's network: what the cards below a switch can send, over what it leads up, "
                                    "where the file does not say; assumed 1")(
      "scontrol", text(), "slurm: a file with what 'scontrol show nodes' prints: which nodes have GPUs and are up")(
      "topology", text(), "slurm: which topology of a topology.yaml; otherwise the cluster's default, or the only one")(
      "labels", text(), "topograph: keys of the labels that name a node's switches, the nearest first")(
      "hcas", text(), "ibnetdiscover, iblinkinfo: the adapters that count, such as 'mlx5_[0,3-6]'; otherwise all");
}

void import_site(const boost::program_options::variables_map& values) {
  const auto paths = values["path"].as<std::vector<std::string>>();
  const SiteProgram& program = program_named(paths.front());
  const std::string command = std::string("stepcast import ") + program.name;
  if (paths.size() != 2)
    throw InputError(command, "found " + std::to_string(paths.size() - 1) + " files, expected one: " + program.file);
  refuse_with(values, "a site's network", {"set", "ignore", "env"});
  refuse_others(values, program);
  language::SiteAnswers answers;
  answers.node = word(values, "node");
  if (answers.node.empty())
    throw InputError("--node", "missing; expected the machine that the nodes are, a name of 'stepcast list nodes'");
  if (const std::string said = word(values, "oversubscription"); !said.empty()) {
    answers.oversubscription = oversubscription(said);
    answers.oversubscription_said = true;
  }
  answers.nodelist = word(values, "nodelist");
  answers.nodelist_from = "--nodelist";
  if (const char* const job = std::getenv(kJobList); answers.nodelist.empty() && job != nullptr && *job != '\0') {
    answers.nodelist = job;
    answers.nodelist_from = kJobList;
  }
  const std::string output = word(values, "output"), scontrol = word(values, "scontrol");
  const std::filesystem::path path = language::input_named(paths[1]);
  std::vector<std::filesystem::path> read{path};
  if (!scontrol.empty()) read.push_back(language::input_named(scontrol));
  check_outputs(std::vector<NamedFile>{named_output(output)}, read);
  const std::string file = language::shown_path(path);
  std::optional<StatusLine> line("importing");
  SiteOfLabels told = program.read(language::read_file(path, file), file, values);
  answers.nodes = std::move(told.nodes);
  if (!scontrol.empty()) {
    const std::string shown = language::shown_path(read.back());
    answers.nodes = language::read_slurm_nodes(language::read_file(read.back(), shown), shown);
  }
  answers.made_by = command + " " + path.filename().string();
  language::Library library(language::config_folders());
  const std::string cluster = language::cluster_of_site(told.site, answers, library);
  check_cluster(cluster, output.empty() || output == "-" ? "the cluster of " + file : output, library);
  line.reset();
  write_output(output, cluster);
}

}  // namespace stepcast::app
