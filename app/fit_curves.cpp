#include "app/fit_curves.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "app/command.h"
#include "app/curve_errors.h"
#include "app/machine_errors.h"
#include "app/named_files.h"
#include "app/output.h"
#include "app/status_line.h"
#include "app/transport_yaml.h"
#include "calibrate/fit/joint_fit.h"
#include "calibrate/fit/neutral_start.h"
#include "calibrate/in_parallel.h"
#include "language/configs/config_folders.h"
#include "language/configs/files.h"
#include "language/core/library.h"
#include "language/core/read_mapping.h"
#include "language/core/visible_text.h"
#include "language/tables/curves.h"

namespace stepcast::app {
namespace {

collectives::Transport read_transport(const std::string& name, language::Library& library) {
  schedules::Software software;
  const language::Node scalar = language::make_scalar(name, {"software", 0, 0});
  read(language::software_table(), library.expand_block(scalar, language::software_schema(), "software"), "software",
       library, software);
  return software.transport;
}

topology::LinkType read_link(const std::string& name, language::Library& library) {
  const language::Node scalar = language::make_scalar(name, {"link", 0, 0});
  topology::LinkType link;
  read(language::link_table(), library.expand_block(scalar, language::link_schema(), "link"), "link", library, link);
  return link;
}

/// The stacks of the table begin where NCCL's own model has them; of the links all of configs/ that have a family.
calibrate::JointStart start_of(const std::vector<language::CurveRow>& rows, language::Library& library) {
  calibrate::JointStart start;
  for (const language::CurveRow& row : rows) {
    if (!start.stacks.contains(row.software))
      start.stacks[row.software] = calibrate::neutral_start(read_transport(row.software, library));
  }
  for (const std::string& name : library.names("links")) {
    const topology::LinkType link = read_link(name, library);
    if (!link.family.empty()) start.families[name] = link.family;
  }
  return start;
}

std::vector<calibrate::Recording> recordings_of(const std::vector<language::CurveRow>& rows) {
  std::vector<calibrate::Recording> recordings;
  for (const language::CurveRow& row : rows)
    recordings.push_back({row.curve, row.software, row.link, row.machine, row.fitted});
  return recordings;
}

/// How far a fit is.
class FittedCurves {
 public:
  calibrate::FitProgress watch() {
    return [this](std::size_t played, double squares) {
      played_ = played;
      squares_ = squares;
    };
  }

 private:
  std::atomic<std::size_t> played_ = 0;
  std::atomic<double> squares_ = 0;
  StatusLine line_{[this](double) {
    return fmt::format("{} curves played, sum of squares {:.3f}", played_.load(), squares_.load());
  }};
};

std::string link_block(const calibrate::LinkFit& link, const std::string& table) {
  std::string text = fmt::format("# Of NCCL over it: `stepcast fit {}`.\nnccl:\n", language::visible(table));
  for (const calibrate::FittedConstant& c : link.constants) text += constant_line("  ", c.name, c);
  return text;
}

}  // namespace

int fit_curves(const ReadFile& table, const FitCurvesOptions& options) {
  language::Library library(language::config_folders());
  const std::vector<language::CurveRow> rows = language::parse_curves(table.text, table.path, library);
  if (options.check) {
    std::map<std::string, collectives::Transport> stacks;
    for (const language::CurveRow& row : rows) {
      if (!stacks.contains(row.software)) stacks[row.software] = read_transport(row.software, library);
    }
    check_outputs(std::array{named_output(options.output)}, library.files());
    std::vector<std::vector<Time>> predicted(rows.size());
    calibrate::in_parallel(rows.size(),
                           [&](std::size_t i) { predicted[i] = predict(rows[i].curve, stacks.at(rows[i].software)); });
    CurveErrors report;
    for (std::size_t i = 0; i < rows.size(); ++i) report.add(rows[i], predicted[i]);
    write_output(options.output, report.text());
    return kDone;
  }
  std::optional<FittedCurves> progress(std::in_place);
  const calibrate::JointFit fit = fit_together(recordings_of(rows), start_of(rows, library), true, progress->watch());
  progress.reset();
  std::vector<NewFile> files;
  for (const auto& [name, stack] : fit.stacks) {
    CurveErrors report;
    std::set<std::string> machines;
    std::size_t curves = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].software != name) continue;
      report.add(rows[i], fit.predicted[i]);
      if (!rows[i].fitted) continue;
      ++curves;
      machines.insert(rows[i].machine);
    }
    const std::string source = fmt::format(
        "Fitted together with all other stacks and links to {}: {} of its curves are of this stack, of {} "
        "machines.",
        language::visible(table.path), curves, machines.size());
    files.push_back({"software/" + name + ".yaml",
                     transport_yaml(name, stack.transport, stack.constants, source) + as_comments(report.text())});
  }
  for (const auto& [name, link] : fit.links) files.push_back({"links/" + name + ".yaml", link_block(link, table.path)});
  files.push_back({"machines.txt", machine_errors(rows, fit)});
  if (options.output.empty()) {
    std::string all;
    for (const NewFile& file : files) all += fmt::format("# {}\n{}", file.path.string(), file.content);
    write_output("", all);
    return kDone;
  }
  for (NewFile& file : files) {
    file.path = std::filesystem::path(options.output) / file.path;
    std::filesystem::create_directories(file.path.parent_path());
  }
  write_files(files);
  return kDone;
}

}  // namespace stepcast::app
