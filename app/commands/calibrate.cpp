#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>

#include "app/command.h"
#include "app/format.h"
#include "app/import_log.h"
#include "app/measure.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/calibration.h"
#include "app/report/png.h"
#include "app/setting.h"
#include "app/status_line.h"
#include "app/unpacker.h"
#include "calibrate/bundle/load.h"
#include "calibrate/fit/collective_fit.h"
#include "calibrate/fit/machine_fit.h"
#include "language/configs/config_folders.h"
#include "language/configs/measured_gpu.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/streams.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace po = boost::program_options;

/// How the node's GPUs are joined, which collectives need to know; nothing where it is not said.
std::optional<Setting> joined_as(const po::variables_map& values, language::Library& library) {
  if (word(values, "node").empty() && word(values, "cluster").empty()) return std::nullopt;
  return read_setting("stepcast calibrate", values, library);
}

calibrate::FittedModel fit_bundle_collectives(const calibrate::Bundle& bundle, const std::optional<Setting>& setting) {
  if (!setting) {
    return {"collectives",
            {},
            {},
            {std::to_string(bundle.collectives.size()) +
             " rows left out: --node or --cluster says how the GPUs are joined"}};
  }
  return fit_collectives(
      bundle,
      [&](std::uint32_t nodes) {
        return topology::build_cluster(setting->cluster.node, setting->cluster.fabric,
                                       nodes * setting->cluster.node.gpus);
      },
      setting->software.transport);
}

/// The tables of a folder; or the archive.
std::vector<std::filesystem::path> files_of_bundle(const std::filesystem::path& bundle) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (bundle.empty()) return {};
  if (!fs::is_directory(bundle, error)) return {bundle};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(bundle, fs::directory_options::skip_permission_denied))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  return files;
}

/// Of a folder, or of an archive of one.
std::vector<calibrate::BundleFile> read_bundle(const std::string& path, const std::string& shown) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return calibrate::load_bundle(path);
  if (!language::is_stream(path) && !std::filesystem::exists(path, error))
    throw InputError(shown, "no such folder or archive");
  const std::string packed = language::read_file(path, shown, calibrate::kLargestBundle);
  return calibrate::unpack_bundle(packed, shown, loaded_unpacker(shown));
}

Calibration fit_bundle(const std::string& path, const po::variables_map& values, std::span<const NamedFile> outputs) {
  const std::string shown = language::shown_path(path);
  const calibrate::Bundle bundle = calibrate::parse_bundle(read_bundle(path, shown), shown);
  language::Library library(language::config_folders());
  const language::MeasuredGpu gpu = language::find_measured_gpu(bundle.machine, word(values, "gpu"), library);
  const std::optional<Setting> setting = bundle.collectives.empty() ? std::nullopt : joined_as(values, library);
  check_outputs(outputs, library.files());
  Calibration calibration{
      shown, gpu.file, bundle.run, bundle.machine, calibrate::fit_machine(bundle, gpu.gpu), bundle.step_tables};
  if (!bundle.collectives.empty()) calibration.models.push_back(fit_bundle_collectives(bundle, setting));
  const std::string inside = shown + "/";
  for (calibrate::FittedModel& model : calibration.models)
    for (calibrate::FittedRow& row : model.rows)
      if (row.place.starts_with(inside)) row.place.erase(0, inside.size());
  return calibration;
}

CommandLine calibrate_line() {
  const auto text = [] { return po::value<std::string>()->default_value("", ""); };
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("bundle", text(), "fit this bundle instead of measuring: a folder, or an archive of one")
      ("out", text(), "write the profile (import: the table, as CSV) to this file")
      ("import", text(), "instead: a trace of the PyTorch profiler or an SQLite or JSON export of Nsight Systems as a table of kernels, nvidia-smi -q as facts")
      ("gpu", text(), "the GPU that was measured, a file of configs/gpus/; by default the one that fits")
      ("node", text(), "collectives: how its GPUs are joined, a file of configs/nodes/")
      ("cluster", text(), "collectives: or a file of configs/clusters/")
      ("software", text(), "collectives: the stack to start from; by default the one fitted on such machines")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "collectives: KEY=VALUE of cluster.* and transport.*")
      ("plot", text(), "draw the errors of all rows to this file, .svg or .png")
      ("format", po::value<std::string>()->default_value("table"), "of what is printed: table, json or csv");
  // clang-format on
  return {
      "usage: stepcast calibrate [--bundle PATH] --out PROFILE.yaml [OPTIONS]\n"
      "       stepcast calibrate --import LOG [--out TABLE.csv]\n\n"
      "Measures this machine's GPUs, fits the constants of the cost model to what it found, writes them as a profile\n"
      "(`profile:` of a scenario, --profile of run and validate), and prints predicted beside measured.\n"
      "With --bundle it fits what another machine measured, anywhere. Exit status 4: this machine cannot measure.\n\n"
      "  stepcast calibrate --out profile.yaml\n"
      "  stepcast calibrate --import trace.json.gz --out kernels.csv",
      options};
}

int calibrate_machine(const std::vector<std::string>& words) {
  const auto values = parse_options(words, calibrate_line());
  if (!values) return kDone;
  if (const auto paths = (*values)["path"].as<std::vector<std::string>>(); !paths.empty())
    throw InputError("stepcast calibrate",
                     "found " + in_quotes(paths.front()) + ", expected --bundle " + paths.front());
  const Format format = parse_format(word(*values, "format"));
  const std::string out = word(*values, "out"), plot = word(*values, "plot");
  refuse_beside(*values, "import", {"bundle", "gpu", "node", "cluster", "software", "set", "plot"});
  if (!plot.empty()) check_picture(plot, "--plot");
  const std::array outputs{NamedFile{"standard output", "-"}, NamedFile{"--out", out}, NamedFile{"--plot", plot}};
  std::string bundle = language::input_named(word(*values, "bundle"));
  check_outputs(outputs, files_of_bundle(bundle));
  if (const std::string log = language::input_named(word(*values, "import")); !log.empty()) {
    check_outputs(outputs, std::array{std::filesystem::path(log)});
    import_log(log, out, format);
    return kDone;
  }
  if (bundle.empty()) {
    const std::optional<std::filesystem::path> program = find_measuring_program();
    if (!program) {
      std::fprintf(stderr, "stepcast calibrate: this machine cannot measure: %s; --bundle fits what another measured\n",
                   what_is_missing().c_str());
      return kCannotMeasure;
    }
    if (out.empty()) throw InputError("--out", "missing, expected the file of the profile");
    if (language::is_stream(language::output_named(out)))
      throw InputError("--out", "found " + in_quotes(out) + ", expected a file: what is measured is kept beside it");
    bundle = std::filesystem::path(out).replace_extension(".bundle").string();
    measure(*program, bundle);
  }
  const Calibration calibration = said_meanwhile("fitting", [&] { return fit_bundle(bundle, *values, outputs); });
  std::vector<NewFile> files;
  if (!out.empty()) files.push_back({out, profile_yaml(calibration)});
  if (!plot.empty()) files.push_back({plot, picture(residuals_svg(calibration), plot)});
  files.push_back({"-", format == Format::json  ? calibration_json(calibration)
                        : format == Format::csv ? calibration_csv(calibration)
                                                : calibration_table(calibration)});
  write_files(files);
  return kDone;
}

}  // namespace

extern const Command calibrate_command;
constinit const Command calibrate_command{
    "calibrate", "measure this machine's GPUs, or take a bundle of measurements, and fit a profile to them",
    calibrate_line, calibrate_machine};

}  // namespace stepcast::app
