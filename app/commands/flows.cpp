#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "app/command.h"
#include "app/format.h"
#include "app/hashings.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/flow_report.h"
#include "app/setting.h"
#include "app/sizes.h"
#include "app/status_line.h"
#include "calibrate/fit/statistics.h"
#include "calibrate/in_parallel.h"
#include "collectives/patterns.h"
#include "collectives/timing/flow_times.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/tables/pair_weights.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr const char* kUsage =
    "usage: stepcast flows --cluster NAME|--node NAME --pattern NAME|TABLE.csv [OPTIONS]\n\n"
    "Predicts when plain flows between GPUs arrive that all start at once: the median one and the last. With --seeds,\n"
    "over as many hashings of the fabric.\n\n"
    "  stepcast flows --node dgx-h100 --pattern incast\n"
    "  stepcast flows --cluster selene --nodes 16 --pattern permutation --seeds 20";

CommandLine flows_line() {
  namespace po = boost::program_options;
  const auto text = [](const char* fallback = "") {
    return po::value<std::string>()->default_value(fallback, fallback);
  };
  std::string patterns;
  for (const collectives::Pattern* each : collectives::patterns())
    patterns += fmt::format("{} ({}), ", each->name, each->summary);
  const std::string of_pattern =
      patterns + "or a table: row s says what GPU s sends each, in any unit, and its largest number is the size";
  po::options_description options("Options");
  add_cluster_options(options);
  // clang-format off
  options.add_options()
      ("pattern", text(), of_pattern.c_str())
      ("sizes", text("2MB"), "of one flow: FROM:TO, doubling; FROM:TO:x4; FROM:TO:1MiB; or sizes with commas between them")
      ("seeds", text(), "so many hashings, from cluster.fabric.seed on: the median of them, the least and the most")
      ("software", text(), "the stack whose transport is used: a file of configs/software/; default: the one fitted on such machines")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE: transport.network_step=1us, cluster.fabric.routing=hash")
      ("format", text("table"), "table, json or csv")
      ("output", text(), "write to this file instead of standard output");
  // clang-format on
  return {kUsage, options};
}

const collectives::Pattern* pattern_called(const std::string& name) {
  const auto found = std::ranges::find(collectives::patterns(), name, &collectives::Pattern::name);
  return found == collectives::patterns().end() ? nullptr : *found;
}

/// The table that --pattern names; nothing where it names a pattern.
std::string table_named(const std::string& word) {
  if (pattern_called(word) != nullptr) return {};
  if (word.find_first_of("./-") != std::string::npos) return language::input_named(word);
  std::vector<std::string_view> names;
  for (const collectives::Pattern* each : collectives::patterns()) names.push_back(each->name);
  throw InputError("--pattern",
                   "found " + in_quotes(word) + ", expected a table's file, or " + language::one_of(word, names));
}

/// What each of so many GPUs sends each.
std::vector<std::int64_t> read_table(const std::string& file, std::uint32_t ranks) {
  std::vector<std::int64_t> weights = language::read_pair_weights(file);
  const std::string shown = language::shown_path(file);
  if (weights.size() != std::size_t{ranks} * ranks)
    throw InputError(shown, fmt::format("found a table of {} numbers, expected {} rows of {}: one for each of the GPUs",
                                        weights.size(), ranks, ranks));
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (const std::int64_t own = weights[std::size_t{rank} * ranks + rank]; own != 0)
      throw InputError(shown,
                       fmt::format("found {} in row {} and column {}, expected 0: no flow is from a GPU to itself", own,
                                   rank + 1, rank + 1));
  if (std::ranges::count(weights, 0) == std::ssize(weights))
    throw InputError(shown, "found nothing but 0, expected a flow");
  return weights;
}

/// When the median flow and the last one have arrived, in seconds.
struct Arrivals {
  double median = 0, last = 0;
};

Arrivals arrivals(const collectives::CollectivePlan& plan, const collectives::Group& group,
                  const topology::Cluster& cluster, const collectives::Transport& transport) {
  std::vector<double> seconds;
  for (const Time time : collectives::flow_times(plan, group, cluster, transport)) seconds.push_back(to_seconds(time));
  return {*calibrate::median(seconds), std::ranges::max(seconds)};
}

int flows(const std::vector<std::string>& words) {
  const auto values = parse_options(words, flows_line());
  if (!values) return kDone;
  const auto word = [&](const char* name) { return (*values)[name].as<std::string>(); };
  if (const auto paths = (*values)["path"].as<std::vector<std::string>>(); !paths.empty())
    throw InputError("stepcast flows", "found " + in_quotes(paths.front()) + ", expected options only");
  const Format format = parse_format(word("format"));
  const std::uint32_t seeds = parse_count(word("seeds"), "--seeds", kMostHashings);
  const std::vector<Bytes> sizes = sizes_named(word("sizes"));
  if (word("pattern").empty()) throw InputError("stepcast flows", "expected --pattern");
  const std::string table = table_named(word("pattern"));
  std::vector<std::filesystem::path> inputs;
  if (!table.empty()) inputs.emplace_back(table);
  const NamedFile output = named_output(word("output"));
  check_outputs(std::span(&output, 1), inputs);
  language::Library library(language::config_folders());
  const Setting setting = read_setting("stepcast flows", *values, library);
  check_outputs(std::span(&output, 1), library.files());

  const topology::Cluster own = build_as_asked(setting.cluster, *values);
  if (own.gpus() < 2) throw InputError("stepcast flows", "found 1 GPU, expected at least 2");
  const std::vector<std::int64_t> weights = table.empty() ? std::vector<std::int64_t>{} : read_table(table, own.gpus());
  const std::vector<schedules::ClusterSpec> specs = hashings(setting.cluster, seeds);
  collectives::Group group;
  for (std::uint32_t g = 0; g < own.gpus(); ++g) group.push_back(topology::GpuId{g});

  std::optional<StatusLine> line("simulating flows");
  FlowReport report{
      .pattern = word("pattern"), .ranks = own.gpus(), .hashings = seeds, .software = setting.software.name};
  for (const Bytes size : sizes) {
    const collectives::CollectivePlan plan = table.empty() ? pattern_called(word("pattern"))->flows(own.gpus(), size)
                                                           : collectives::flows_of(weights, own.gpus(), size);
    report.flows = static_cast<std::uint32_t>(plan.transfers.size());
    std::vector<double> median(specs.size()), last(specs.size());
    try {
      calibrate::in_parallel(specs.size(), [&](std::size_t i) {
        const schedules::ClusterSpec& spec = specs[i];
        const topology::Cluster cluster =
            seeds == 0 ? own : topology::build_cluster(spec.node, spec.fabric, spec.gpus, spec.allocation);
        const Arrivals at = arrivals(plan, group, cluster, over(setting.software.transport, cluster.nic_port().nccl));
        median[i] = at.median;
        last[i] = at.last;
      });
    } catch (const std::overflow_error& e) {
      throw InputError("--sizes", std::string("flows of these would take too long: ") + e.what());
    }
    report.rows.push_back({size, spread(median), spread(last)});
  }
  line.reset();
  write_output(word("output"), format == Format::json  ? flow_json(report)
                               : format == Format::csv ? flow_csv(report)
                                                       : flow_table(report));
  return kDone;
}

}  // namespace

extern const Command flows_command;
constinit const Command flows_command{"flows", "time plain flows that start at once: an incast, a permutation, a table",
                                      flows_line, flows};

}  // namespace stepcast::app
