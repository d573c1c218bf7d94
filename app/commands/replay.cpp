#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "app/chakra_files.h"
#include "app/command.h"
#include "app/format.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/replay_report.h"
#include "app/setting.h"
#include "app/status_line.h"
#include "language/chakra/attributes.h"
#include "language/chakra/program_of.h"
#include "language/configs/config_folders.h"
#include "language/core/library.h"
#include "language/questions.h"
#include "sim/executor.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine replay_line() {
  namespace po = boost::program_options;
  const auto text = [](const char* fallback = "") {
    return po::value<std::string>()->default_value(fallback, fallback);
  };
  po::options_description options("Options");
  add_cluster_options(options);
  // clang-format off
  options.add_options()
      ("scenario", text(), "or the cluster and the stack of this scenario")
      ("groups", text(), "the file of process groups, as ASTRA-sim has it; default: PREFIX.json, if it is there")
      ("software", text(), "the stack whose transport is used: a file of configs/software/; default: the one fitted on such machines")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE: transport.network_step=1us, cluster.fabric.routing=hash")
      ("format", text("table"), "table, json or csv")
      ("output", text(), "write to this file instead of standard output");
  // clang-format on
  return {
      "usage: stepcast replay PREFIX|FOLDER --cluster NAME|--node NAME|--scenario SCENARIO.yaml [OPTIONS]\n\n"
      "Runs the Chakra execution traces PREFIX.0.et, PREFIX.1.et ... of all ranks, or those of a folder, on a "
      "cluster,\n"
      "and says how long they take: traces of stepcast run --chakra, or of other tools. docs/chakra.md says which "
      "nodes\n"
      "and attributes are read.\n\n"
      "  stepcast replay traces/step --scenario scenarios/quickstart.yaml\n"
      "  stepcast replay microbenchmarks/all_reduce/4npus_1MB --node dgx-h100 --gpus 4",
      options};
}

/// Throws InputError where the machine lacks ranks of the traces, or their slow node.
void check_fits(const language::Traces& traces, const workload::MachineSpec& spec) {
  const topology::Cluster cluster = topology::build_cluster(spec.node, spec.fabric, spec.gpus, spec.allocation);
  if (traces.traces.size() > cluster.gpus())
    throw InputError(traces.prefix, "found traces of " + std::to_string(traces.traces.size()) +
                                        " ranks, expected at most " + std::to_string(cluster.gpus()) +
                                        ": the cluster has no more GPUs");
  if (spec.slow_node && spec.slow_node->node >= cluster.nodes())
    throw InputError(traces.prefix, "found traces of a step whose node " + std::to_string(spec.slow_node->node) +
                                        " is slow, expected more nodes than the cluster's " +
                                        std::to_string(cluster.nodes()));
}

/// The machine that --scenario, or the options of clusters, name.
workload::MachineSpec machine_asked(const boost::program_options::variables_map& values, language::Library& library) {
  const std::string scenario = word(values, "scenario");
  if (scenario.empty()) {
    const Setting setting = read_setting("stepcast replay", values, library);
    build_as_asked(setting.cluster, values);
    const schedules::ClusterSpec& c = setting.cluster;
    return {c.node, c.fabric, c.gpus, c.allocation, setting.software.transport};
  }
  refuse_beside(values, "scenario", {"cluster", "node", "nodes", "gpus", "allocation", "software"});
  const auto settings = values["set"].as<std::vector<std::string>>();
  const std::vector<language::Question> questions =
      language::read_questions(std::span(&scenario, 1), settings, library);
  if (questions.size() != 1)
    throw InputError("--scenario", "found " + std::to_string(questions.size()) + " scenarios, expected one");
  if (!questions.front().error.empty()) throw InputError("", questions.front().error);
  return machine_of(questions.front().scenario);
}

ReplayReport report_of(const language::Traces& traces, const language::TracedProgram& program,
                       const sim::Timeline& timeline) {
  ReplayReport report{.traces = traces.prefix, .exact = traces.details.has_value()};
  report.step = workload::step_time(program.recorded.measure, timeline);
  report.end = timeline.end;
  const language::CheckedTraces checked(traces);
  for (std::uint32_t rank = 0; rank < checked.ranks(); ++rank) {
    ReplayedRank& made = report.ranks.emplace_back(ReplayedRank{.rank = rank, .nodes = checked.nodes(rank).size()});
    for (std::size_t n = 0; n < made.nodes; ++n) {
      const language::NodePlace at{rank, n};
      if (checked.node(at).type == language::ChakraType::compute && !checked.yes(at, "is_cpu_op").value_or(false))
        made.kernels += language::duration_of(checked, at);
    }
  }
  for (std::size_t t = 0; t < program.tasks.size(); ++t)
    for (const language::NodePlace at : program.tasks[t])
      report.ranks[at.rank].end = std::max(report.ranks[at.rank].end, timeline.finish[t]);
  return report;
}

int replay(const std::vector<std::string>& words) {
  const auto values = parse_options(words, replay_line());
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.size() != 1)
    throw InputError("stepcast replay",
                     "found " + std::to_string(paths.size()) + " prefixes or folders of traces, expected one");
  const Format format = parse_format(word(*values, "format"));
  const NamedFile output = named_output(word(*values, "output"));
  language::Library library(language::config_folders());
  workload::MachineSpec spec = machine_asked(*values, library);
  check_outputs(std::span(&output, 1), library.files());
  std::optional<StatusLine> line("replaying");
  const language::Traces traces = read_chakra(paths.front(), word(*values, "groups"));
  const language::TracedProgram program = language::program_of(traces);
  spec.slow_node = program.recorded.slow_node;
  check_fits(traces, spec);
  const workload::Machine machine(spec);
  sim::Timeline timeline;
  try {
    timeline = workload::run(program.recorded, machine);
  } catch (const sim::CyclicTasks& e) {
    language::throw_circle(traces, program, e.cycle);
  } catch (const std::overflow_error& e) {
    throw InputError(traces.prefix, std::string("takes too long: ") + e.what());
  }
  const ReplayReport report = report_of(traces, program, timeline);
  line.reset();
  write_output(word(*values, "output"), format == Format::json  ? replay_json(report)
                                        : format == Format::csv ? replay_csv(report)
                                                                : replay_table(report));
  return kDone;
}

}  // namespace

extern const Command replay_command;
constinit const Command replay_command{"replay", "run Chakra traces, of stepcast or of other tools, on a cluster",
                                       replay_line, replay};

}  // namespace stepcast::app
