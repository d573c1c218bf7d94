#include "app/import_site.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/distinct_files.h"
#include "app/options.h"
#include "app/output.h"
#include "language/configs/cluster.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "language/core/yaml.h"
#include "language/sites/cluster_of_site.h"
#include "language/sites/slurm_nodes.h"
#include "language/sites/slurm_topology.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr const char* kJobList = "SLURM_JOB_NODELIST";

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

void add_site_options(boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  options.add_options()("node", po::value<std::string>()->default_value("", ""),
                        "slurm: the machine that the nodes are, of configs/nodes/")(
      "scontrol", po::value<std::string>()->default_value("", ""),
      "slurm: a file with what 'scontrol show nodes' prints: which nodes have GPUs and are up")(
      "nodelist", po::value<std::string>()->default_value("", ""),
      "slurm: the job's nodes, such as 'gpu[001-064]', in the order of its ranks; otherwise SLURM_JOB_NODELIST, or "
      "all")("oversubscription", po::value<std::string>()->default_value("", ""),
             "slurm: what the cards below a switch can send, over what it leads up; assumed 1");
}

void import_site(const boost::program_options::variables_map& values) {
  const auto paths = values["path"].as<std::vector<std::string>>();
  if (paths.size() != 2)
    throw InputError("stepcast import slurm",
                     "found " + std::to_string(paths.size() - 1) + " files, expected one topology.conf");
  refuse_with(values, "the files of Slurm", {"set"});
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
  check_distinct(std::vector<NamedFile>{named_output(output)}, read);
  const std::string file = language::shown_path(path);
  const language::Site site = language::read_slurm_topology(language::read_file(path, file), file);
  if (!scontrol.empty()) {
    const std::string shown = language::shown_path(read.back());
    answers.nodes = language::read_slurm_nodes(language::read_file(read.back(), shown), shown);
  }
  answers.made_by = "stepcast import slurm " + path.filename().string();
  language::Library library(language::config_folders());
  const std::string cluster = language::cluster_of_site(site, answers, library);
  check_cluster(cluster, output.empty() || output == "-" ? "the cluster of " + file : output, library);
  write_output(output, cluster);
}

}  // namespace stepcast::app
