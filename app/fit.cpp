#include "app/fit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/fit_transport.h"
#include "app/options.h"
#include "app/output.h"
#include "app/read/curves.h"
#include "app/read/files.h"
#include "app/read/library.h"
#include "calibrate/fit/gemm_fit.h"
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
      "  fill: {:.1f}\n  exposed_write: {:.3f}\n",
      fit.fitted, table, 100 * fit.fitted_mape, fit.held_out, 100 * fit.held_out_mape, 100 * fit.held_out_median,
      m.mainloop, m.sustained, m.tile_128, m.tile_64, m.fill, m.exposed_write);
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
        {"exposed_write", m.exposed_write}}},
      {"fitted", {{"rows", fit.fitted}, {"mape", fit.fitted_mape}}},
      {"held_out",
       {{"rows", fit.held_out}, {"mape", fit.held_out_mape}, {"median_absolute_error", fit.held_out_median}}}};
  return out.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

}  // namespace

int fit(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  const auto text = [] { return po::value<std::string>()->default_value("", ""); };
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("gpu", text(), "multiplies: the GPU that was measured, a file of configs/gpus/")
      ("launch", po::value<std::string>()->default_value("3 us"), "multiplies: fixed time that each measured kernel includes")
      ("software", text(), "curves: the stack to fit, of which channels, chunk and protocols stay; logs: the one to start from, by default the one fitted on such machines")
      ("check", "curves and logs: fit nothing, print every curve's error")
      ("cluster", text(), "logs: the machine, a file of configs/clusters/")
      ("node", text(), "logs: or machines of this kind, a file of configs/nodes/")
      ("nodes", text(), "logs: how many of them")
      ("gpus", text(), "logs: or how many GPUs")
      ("allocation", text(), "logs: or which GPUs: '0-2,5'")
      ("gpus-per-process", po::value<std::uint32_t>()->default_value(1), "logs: nccl-tests' -g times -t")
      ("op", text(), "logs that do not say it: all_reduce, all_gather, ...")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "logs: KEY=VALUE of cluster.* and transport.*")
      ("format", po::value<std::string>()->default_value("yaml"), "multiplies: yaml or json")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  // clang-format on
  const auto values = parse_options(
      words,
      "usage: stepcast fit TABLE.csv|LOG... [OPTIONS]\n\n"
      "Logs of nccl-tests, with --node and how many: fits a software stack's transport to them, says which constants\n"
      "they cannot tell, and prints it as a file for configs/software/ with the errors that remain.\n"
      "A table of curves (its header has a column curve, see calibrate/data/nccl/curves.csv): fits a software\n"
      "stack's transport to recorded collectives and prints it as a file for configs/software/.\n"
      "Otherwise a table of multiplies. "
      "Fits the constants of a GPU's multiply model to a table m,n,k,layout,output_bytes,efficiency and tries\n"
      "them on the half of the shapes that it did not see. Prints a `gemm:` block for configs/gpus/.",
      options);
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.empty()) throw InputError("stepcast fit", "found no file, expected a table or logs of nccl-tests");
  const bool machine_named =
      !(*values)["node"].as<std::string>().empty() || !(*values)["cluster"].as<std::string>().empty();
  if (machine_named || paths.size() > 1 || !paths.front().ends_with(".csv"))
    return fit_transport_to_logs(paths, *values);
  const auto format_word = (*values)["format"].as<std::string>();
  if (format_word != "yaml" && format_word != "json")
    throw InputError("--format", "found '" + format_word + "', expected yaml or json");
  if (is_curve_table(paths.front())) {
    if (format_word == "json") throw InputError("--format", "found 'json', expected yaml for a table of curves");
    return fit_transport_to(paths.front(), {.software = (*values)["software"].as<std::string>(),
                                            .check = values->count("check") != 0,
                                            .output = (*values)["output"].as<std::string>()});
  }
  if ((*values)["gpu"].as<std::string>().empty())
    throw InputError("--gpu", "missing: the GPU that was measured, a file of configs/gpus/");
  const auto launch = parse_time((*values)["launch"].as<std::string>());
  if (!launch)
    throw InputError("--launch", "found '" + (*values)["launch"].as<std::string>() + "', expected a time in " +
                                     std::string(time_units()));

  Library library(configs_directory());
  const Node name = make_scalar((*values)["gpu"].as<std::string>(), {"--gpu", 0, 0});
  schedules::Gpu gpu;
  read(gpu_table(), library.expand_block(name, gpu_schema(), "gpu"), "gpu", library, gpu);
  const schedules::GemmMachine machine{gpu.sms, peak(gpu, schedules::Precision::bf16), gpu.memory_bandwidth,
                                       gpu.memory_efficiency};
  const calibrate::GemmFit result = calibrate::fit_gemm(calibrate::read_gemm_samples(paths.front()), machine, *launch);
  write_output((*values)["output"].as<std::string>(),
               format_word == "json" ? gemm_json(result, paths.front()) : gemm_yaml(result, paths.front()));
  return kDone;
}

}  // namespace stepcast::app
