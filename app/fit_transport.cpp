#include "app/fit_transport.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "app/command.h"
#include "app/curve_errors.h"
#include "app/named_files.h"
#include "app/output.h"
#include "app/setting.h"
#include "app/status_line.h"
#include "app/transport_yaml.h"
#include "calibrate/fit/transport_fit.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/operation_named.h"
#include "language/core/visible_text.h"
#include "language/import/log_curves.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

std::string fitted_to(const std::string& what, const calibrate::TransportFit& fit) {
  return fmt::format("Fitted to {}: {} points, median error {:.1f} %, mean {:.1f} %.", what, fit.points,
                     100 * fit.median, 100 * fit.mean);
}

}  // namespace

int fit_transport_to_logs(const std::vector<ReadFile>& logs, const boost::program_options::variables_map& values) {
  language::Library library(language::config_folders());
  const Setting setting = read_setting("stepcast fit", values, library);
  const auto word = [&](const char* name) { return values[name].as<std::string>(); };
  check_outputs(std::array{named_output(word("output"))}, library.files());
  std::optional<collectives::Operation> operation;
  if (!word("op").empty()) operation = language::operation_named(word("op"), "--op");
  const topology::Cluster cluster = topology::build_cluster(setting.cluster.node, setting.cluster.fabric,
                                                            setting.cluster.gpus, setting.cluster.allocation);
  std::optional<std::uint32_t> per_process;
  if (values.count("gpus-per-process") != 0) per_process = values["gpus-per-process"].as<std::uint32_t>();
  std::vector<calibrate::Curve> curves;
  std::string names;
  for (const ReadFile& log : logs) {
    const std::vector<calibrate::Curve> found =
        language::parse_log_curves(log.text, log.path, cluster, per_process, operation);
    curves.insert(curves.end(), found.begin(), found.end());
    names += fmt::format("{}{} ({} B)", names.empty() ? "" : ", ", language::visible(language::shown_path(log.path)),
                         log.text.size());
  }
  const bool check = values.count("check") != 0;
  collectives::Transport transport = setting.software.transport;
  calibrate::TransportFit fit;
  if (!check) {
    fit = said_meanwhile("fitting", [&] { return fit_transport(curves, transport); });
    transport = fit.transport;
  }
  CurveErrors report;
  for (const calibrate::Curve& curve : curves)
    report.add({.curve = curve, .software = setting.stack, .link = {}, .machine = {}, .fitted = !check},
               predict(curve, transport));
  if (check) {
    write_output(word("output"), report.text());
    return kDone;
  }
  const std::string from =
      fmt::format("{} {} of {}, on {} GPUs of {}, from {}", curves.size(), curves.size() == 1 ? "table" : "tables",
                  names, setting.cluster.gpus, setting.cluster.node.name, setting.stack);
  write_output(word("output"),
               transport_yaml(setting.stack + "-fitted", fit.transport, fit.constants, fitted_to(from, fit)) +
                   as_comments(report.text()));
  return kDone;
}

}  // namespace stepcast::app
