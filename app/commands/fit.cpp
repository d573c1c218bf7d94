#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command.h"
#include "app/fit_curves.h"
#include "app/fit_runs.h"
#include "app/fit_transport.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/json_text.h"
#include "app/status_line.h"
#include "calibrate/fit/gemm_fit.h"
#include "language/configs/config_folders.h"
#include "language/configs/files.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/read_mapping.h"
#include "language/core/streams.h"
#include "language/core/unit_meant.h"
#include "language/core/visible_text.h"
#include "language/scenario.h"
#include "language/tables/curves.h"
#include "language/tables/runs_table.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

/// A block for a file of configs/gpus/, its errors as comments.
std::string gemm_yaml(const calibrate::GemmFit& fit, const std::string& table) {
  const schedules::GemmModel& m = fit.model;
  return fmt::format(
      "# fitted to {} multiplies of {}: mean absolute error {:.1f}%\n"
      "# {} held out: mean {:.1f}%, median {:.1f}%\n"
      "gemm:\n  mainloop: {:.4f}\n  sustained: {:.4f}\n  tile_128: {:.4f}\n  tile_64: {:.4f}\n"
      "  fill: {:.1f}\n  exposed_write: {:.3f}\n  aligned_4: {:.3f}\n  aligned_2: {:.3f}\n",
      fit.fitted, language::visible(table), 100 * fit.fitted_mape, fit.held_out, 100 * fit.held_out_mape,
      100 * fit.held_out_median, m.mainloop, m.sustained, m.tile_128, m.tile_64, m.fill, m.exposed_write, m.aligned_4,
      m.aligned_2);
}

std::string gemm_json(const calibrate::GemmFit& fit, const std::string& table) {
  const schedules::GemmModel& m = fit.model;
  const nlohmann::ordered_json out{
      {"table", table},
      {"gemm",
       {{"mainloop", m.mainloop},
        {"sustained", m.sustained},
        {"tile_128", m.tile_128},
        {"tile_64", m.tile_64},
        {"fill", m.fill},
        {"exposed_write", m.exposed_write},
        {"aligned_4", m.aligned_4},
        {"aligned_2", m.aligned_2}}},
      {"fitted", {{"rows", fit.fitted}, {"mape", fit.fitted_mape}}},
      {"held_out",
       {{"rows", fit.held_out}, {"mape", fit.held_out_mape}, {"median_absolute_error", fit.held_out_median}}}};
  return json_text(out);
}

/// By its name; of a stream, by the first line that is no comment: a header is words with commas between them.
bool is_table(const ReadFile& file) {
  if (!language::is_stream(file.path)) return file.path.ends_with(".csv");
  std::istringstream lines(file.text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#')
      return line.find(',') != std::string::npos && line.find(' ') == std::string::npos;
  return false;
}

}  // namespace

/// What a table's multiplies are in.
FlopRate peak_of_16_bits(const schedules::Gpu& gpu) {
  for (const schedules::Precision precision : {schedules::Precision::bf16, schedules::Precision::fp16})
    if (gpu.peak.contains(precision)) return peak(gpu, precision);
  throw InputError("--gpu", "found " + in_quotes(gpu.name) +
                                ", which has no rate for bf16 or fp16, expected one that " +
                                "has: a table's multiplies are of 16 bits");
}

namespace {

CommandLine fit_line() {
  namespace po = boost::program_options;
  const auto text = [] { return po::value<std::string>()->default_value("", ""); };
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("runs", "fit a stack's constants to measured steps: the files are runs tables or scenarios")
      ("network", text(), "runs: a table of bus bandwidths by number of nodes that were measured at the site")
      ("rows", text(), "runs: fit to so many of them, chosen at random, and try all others")
      ("seed", po::value<std::uint32_t>()->default_value(1), "runs: of that choice")
      ("gpu", text(), "multiplies: the GPU that was measured, a file of configs/gpus/")
      ("launch", po::value<std::string>()->default_value("3 us"), "multiplies: fixed time that each measured kernel includes")
      ("software", text(), "logs: the stack to start from, by default the one fitted on such machines")
      ("check", "curves and logs: fit nothing, print every curve's error")
      ("cluster", text(), "logs: the machine, a file of configs/clusters/")
      ("node", text(), "logs: or machines of this kind, a file of configs/nodes/")
      ("nodes", text(), "logs: how many of them")
      ("gpus", text(), "logs: or how many GPUs")
      ("allocation", text(), "logs: or which GPUs: '0-2,5'")
      ("gpus-per-process", po::value<std::uint32_t>(), "logs: nccl-tests' -g times -t; default: as the log says, else 1")
      ("op", text(), "logs that do not say it: all_reduce, all_gather, ...")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "logs: KEY=VALUE of cluster.* and transport.*; runs: of scenarios")
      ("format", po::value<std::string>()->default_value("yaml"), "multiplies: yaml or json")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output; curves without --check: to this folder");
  // clang-format on
  return {
      "usage: stepcast fit TABLE.csv|LOG... [OPTIONS]\n\n"
      "With --runs: fits what belongs to a software stack and a site (host time, share of the kernels' rates, what "
      "the\n"
      "network gives many nodes, memory) to a handful of your own measured steps, each with an interval, and prints it "
      "as\n"
      "a file for `software:`.\n"
      "Logs of nccl-tests, with --node and how many: fits a software stack's transport to them, says which constants\n"
      "they cannot tell, and prints it as a file for configs/software/ with the errors that remain.\n"
      "A table of curves (its header has a column curve, see calibrate/data/nccl/curves.csv): fits all stacks that it\n"
      "names and the links of networks together to recorded collectives, prints them as files for configs/software/\n"
      "and blocks for configs/links/, and how far off each machine is when it is left out.\n"
      "Otherwise a table of multiplies. "
      "Fits the constants of a GPU's multiply model to a table m,n,k,layout,output_bytes,efficiency and tries\n"
      "them on the half of the shapes that it did not see. Prints a `gemm:` block for configs/gpus/.\n\n"
      "  stepcast fit calibrate/data/gemm_a100_pcie.csv --gpu a100-pcie-40gb\n"
      "  stepcast fit all_reduce.log --node dgx-h100 --nodes 2",
      options,
      {"yaml", "json"}};
}

int fit(const std::vector<std::string>& words) {
  const auto values = parse_options(words, fit_line());
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.empty()) throw InputError("stepcast fit", "found no file, expected a table or logs of nccl-tests");
  if (values->count("runs") != 0) {
    refuse_beside(*values, "runs",
                  {"gpu", "launch", "software", "check", "cluster", "node", "nodes", "gpus", "allocation",
                   "gpus-per-process", "op", "format"});
    return fit_to_runs(paths, *values);
  }
  refuse_with(*values, "anything but --runs", {"network", "rows", "seed"});
  const auto output = (*values)["output"].as<std::string>();
  std::vector<std::filesystem::path> inputs;
  for (const std::string& path : paths) inputs.emplace_back(language::input_named(path));
  check_outputs(std::array{named_output(output)}, inputs);
  std::vector<ReadFile> files;
  for (const std::filesystem::path& path : inputs)
    files.push_back({path.string(), language::read_file(path, language::shown_path(path))});
  const bool machine_named =
      !(*values)["node"].as<std::string>().empty() || !(*values)["cluster"].as<std::string>().empty();
  const ReadFile& table = files.front();
  if (!machine_named && !is_table(table))
    throw InputError(language::shown_path(table.path),
                     "found no .csv, expected a table of multiplies or curves, or logs of nccl-tests and --node or "
                     "--cluster, which say on what machine");
  if (machine_named || files.size() > 1 || !is_table(table)) {
    refuse_with(*values, "logs of nccl-tests", {"gpu", "launch", "format"});
    return fit_transport_to_logs(files, *values);
  }
  const bool curves = language::is_curve_table(table.text, language::shown_path(table.path));
  if (!curves && language::is_runs_table(table.text, language::shown_path(table.path), language::scenario_schema()))
    throw InputError(language::shown_path(table.path),
                     "found a runs table, expected a table of multiplies or curves; --runs fits a stack to runs");
  const std::string kind = curves ? "a table of curves" : "a table of multiplies";
  refuse_with(*values, kind, {"nodes", "gpus", "allocation", "gpus-per-process", "op", "set"});
  if (curves)
    refuse_with(*values, kind, {"gpu", "launch", "software"});
  else
    refuse_with(*values, kind, {"software", "check"});
  const auto format_word = (*values)["format"].as<std::string>();
  if (format_word != "yaml" && format_word != "json")
    throw InputError("--format", "found " + in_quotes(format_word) + ", expected yaml or json");
  if (curves) {
    if (format_word == "json") throw InputError("--format", "found 'json', expected yaml for a table of curves");
    return fit_curves(table, {.check = values->count("check") != 0, .output = output});
  }
  if ((*values)["gpu"].as<std::string>().empty())
    throw InputError("--gpu", "missing: the GPU that was measured, a file of configs/gpus/");
  const auto launch = parse_time((*values)["launch"].as<std::string>());
  if (!launch)
    throw InputError("--launch",
                     "found '" + (*values)["launch"].as<std::string>() + "', expected a time in " +
                         std::string(time_units()) +
                         language::unit_meant(language::Type::Kind::time, (*values)["launch"].as<std::string>()));

  language::Library library(language::config_folders());
  const language::Node name = language::make_scalar((*values)["gpu"].as<std::string>(), {"--gpu", 0, 0});
  schedules::Gpu gpu;
  read(language::gpu_table(), library.expand_block(name, language::gpu_schema(), "gpu"), "gpu", library, gpu);
  check_outputs(std::array{named_output(output)}, library.files());
  const schedules::GemmMachine machine{gpu.sms, peak_of_16_bits(gpu), gpu.memory_bandwidth, gpu.memory_efficiency};
  const std::string shown = language::shown_path(table.path);
  const calibrate::GemmFit result = said_meanwhile("fitting", [&] {
    return calibrate::fit_gemm(calibrate::parse_gemm_samples(table.text, shown), machine, *launch, shown);
  });
  write_output(output, format_word == "json" ? gemm_json(result, table.path) : gemm_yaml(result, table.path));
  return kDone;
}

}  // namespace

extern const Command fit_command;
constinit const Command fit_command{"fit", "fit a GPU's multiply model to a table of measured multiplies", fit_line,
                                    fit};

}  // namespace stepcast::app
