#include "app/fit.h"

#include <fmt/format.h>

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

int fit(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("gpu", po::value<std::string>()->default_value("a100-pcie-40gb"), "the GPU that was measured: a file of configs/gpus/")
      ("launch", po::value<std::string>()->default_value("3 us"), "fixed time that each measured kernel includes")
      ("software", po::value<std::string>()->default_value("", ""), "curves: the stack to start from, whose curves are fitted")
      ("check", "curves: fit nothing, print every curve's error under its own stack")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output");
  // clang-format on
  const auto values = parse_options(
      words,
      "usage: stepcast fit TABLE.csv [OPTIONS]\n\n"
      "A table of curves (its header has a column curve, see calibrate/data/nccl/curves.csv): fits a software\n"
      "stack's transport to recorded collectives and prints it as a file for configs/software/.\n"
      "Otherwise a table of multiplies. "
      "Fits the constants of a GPU's multiply model to a table m,n,k,layout,output_bytes,efficiency and tries\n"
      "them on the half of the shapes that it did not see. Prints a `gemm:` block for configs/gpus/.",
      options);
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.size() != 1)
    throw InputError("stepcast fit", "found " + std::to_string(paths.size()) + " tables, expected one");
  if (is_curve_table(paths.front())) {
    return fit_transport_to(paths.front(), {.software = (*values)["software"].as<std::string>(),
                                            .check = values->count("check") != 0,
                                            .output = (*values)["output"].as<std::string>()});
  }
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
  const schedules::GemmModel& m = result.model;
  write_output((*values)["output"].as<std::string>(),
               fmt::format("# fitted to {} multiplies of {}: mean absolute error {:.1f}%\n"
                           "# {} held out: mean {:.1f}%, median {:.1f}%\n"
                           "gemm:\n  mainloop: {:.4f}\n  sustained: {:.4f}\n  tile_128: {:.4f}\n  tile_64: {:.4f}\n"
                           "  fill: {:.1f}\n  exposed_write: {:.3f}\n",
                           result.fitted, paths.front(), 100 * result.fitted_mape, result.held_out,
                           100 * result.held_out_mape, 100 * result.held_out_median, m.mainloop, m.sustained,
                           m.tile_128, m.tile_64, m.fill, m.exposed_write));
  return kDone;
}

}  // namespace stepcast::app
