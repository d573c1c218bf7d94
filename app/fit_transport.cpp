#include "app/fit_transport.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "app/command.h"
#include "app/distinct_files.h"
#include "app/output.h"
#include "app/setting.h"
#include "calibrate/fit/neutral_start.h"
#include "calibrate/fit/statistics.h"
#include "calibrate/fit/transport_fit.h"
#include "calibrate/in_parallel.h"
#include "language/configs/config_folders.h"
#include "language/configs/files.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/nearest.h"
#include "language/core/operation_named.h"
#include "language/core/read_mapping.h"
#include "language/core/visible_text.h"
#include "language/import/log_curves.h"
#include "language/tables/curves.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr Bytes kMegabyte{1 << 20}, kAll{std::int64_t{1} << 60};

collectives::Transport read_transport(const std::string& name, language::Library& library) {
  schedules::Software software;
  const language::Node scalar = language::make_scalar(name, {"--software", 0, 0});
  read(language::software_table(), library.expand_block(scalar, language::software_schema(), "software"), "software",
       library, software);
  return software.transport;
}

/// A line per curve, and the medians over all points: of each stack, and of all stacks together.
class ErrorTable {
 public:
  ErrorTable() {
    text_ = fmt::format("{:<36} {:<9} {:>7} {:>7} {:>7} {:>7} {:>8}\n", "curve", "use", "< 1 MB", "worst", ">= 1 MB",
                        "worst", "largest");
  }
  void add(const language::CurveRow& row, const std::vector<Time>& predicted) {
    const calibrate::Errors small = errors(row.curve, predicted, {1}, kMegabyte);
    const calibrate::Errors large = errors(row.curve, predicted, kMegabyte, kAll);
    const auto percent = [](const calibrate::Errors& e, double value) {
      return e.points == 0 ? std::string("-") : fmt::format("{:.1f}%", 100 * value);
    };
    text_ += fmt::format("{:<36} {:<9} {:>7} {:>7} {:>7} {:>7} {:>+7.1f}%\n", language::visible(row.curve.name),
                         row.fitted ? "fitted" : "held out", percent(small, small.median), percent(small, small.worst),
                         percent(large, large.median), percent(large, large.worst),
                         100 * (predicted.back() / row.curve.points.back().time - 1));
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      const double off = std::abs(predicted[i] / row.curve.points[i].time - 1);
      for (PooledErrors* pool : {&all_, &stacks_[row.software]}) {
        (row.curve.points[i].size < kMegabyte ? pool->small : pool->large)[row.fitted].push_back(off);
      }
    }
  }
  std::string text() const {
    std::string all = text_;
    if (stacks_.size() > 1) {
      for (const auto& [name, pool] : stacks_) all += lines("median of all points of " + name, pool);
    }
    return all + lines("median of all points", all_);
  }

 private:
  struct PooledErrors {
    std::vector<double> small[2], large[2];  ///< errors below and from 1 MB; of held out curves, of fitted ones
  };

  static std::string lines(const std::string& what, const PooledErrors& pool) {
    std::string text;
    for (const bool fitted : {true, false}) {
      const std::vector<double>&small = pool.small[fitted], &large = pool.large[fitted];
      if (small.empty() && large.empty()) continue;
      const auto percent = [](const std::vector<double>& errors) {
        const std::optional<double> middle = calibrate::median(errors);
        return middle ? fmt::format("{:.1f}%", 100 * *middle) : "-";
      };
      text += fmt::format("{}, {}: {} below 1 MB ({} points), {} from 1 MB ({})\n", what,
                          fitted ? "fitted" : "held out", percent(small), small.size(), percent(large), large.size());
    }
    return text;
  }

  std::string text_;
  PooledErrors all_;
  std::map<std::string, PooledErrors> stacks_;
};

/// `from`: what was fitted to, as the profile's source says it.
std::string profile(const std::string& name, const std::string& from, const calibrate::TransportFit& fit) {
  std::string yaml = fmt::format("name: {}\ntransport:\n{}  channels: {}\n", language::visible(name),
                                 fit.transport.nccl_version == collectives::Transport{}.nccl_version
                                     ? ""
                                     : fmt::format("  nccl_version: {}\n", fit.transport.nccl_version),
                                 fit.transport.channels);
  std::string block;
  for (const calibrate::FittedConstant& c : fit.constants) {
    std::string key = c.name;
    std::string indent = "  ";
    if (const std::size_t dot = key.find('.'); dot != std::string::npos) {
      if (c.why == "the stack does not have this protocol") continue;
      if (key.substr(0, dot) != block) yaml += fmt::format("  {}:\n", block = key.substr(0, dot));
      key = key.substr(dot + 1);
      indent = "    ";
    }
    const std::string value = c.microseconds ? fmt::format("{:.3f} us", c.value) : fmt::format("{:.4f}", c.value);
    yaml += fmt::format("{}{}: {}", indent, key, value);
    yaml += c.identified ? fmt::format("  # 95 %: {:.3g} to {:.3g}\n", c.low, c.high)
                         : fmt::format("  # not told: {}\n", c.why);
  }
  yaml += fmt::format("  chunk: {} B\n", fit.transport.chunk.value);
  yaml += fmt::format("source: >-\n  Fitted to {}: {} points, median error {:.1f} %, mean {:.1f} %.\n", from,
                      fit.points, 100 * fit.median, 100 * fit.mean);
  return yaml;
}

std::string as_comments(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace

int fit_transport_to(const ReadFile& table, const FitTransportOptions& options) {
  language::Library library(language::config_folders());
  const std::vector<language::CurveRow> rows = language::parse_curves(table.text, table.path, library);
  ErrorTable report;
  if (options.check) {
    std::map<std::string, collectives::Transport> stacks;
    for (const language::CurveRow& row : rows) {
      if (!stacks.contains(row.software)) stacks[row.software] = read_transport(row.software, library);
    }
    check_distinct(std::array{named_output(options.output)}, library.files());
    std::vector<std::vector<Time>> predicted(rows.size());
    calibrate::in_parallel(rows.size(),
                           [&](std::size_t i) { predicted[i] = predict(rows[i].curve, stacks.at(rows[i].software)); });
    for (std::size_t i = 0; i < rows.size(); ++i) report.add(rows[i], predicted[i]);
    write_output(options.output, report.text());
    return kDone;
  }
  if (options.software.empty()) throw InputError("--software", "missing: the stack to fit, or --check");
  std::vector<calibrate::Curve> fitted;
  for (const language::CurveRow& row : rows) {
    if (row.fitted && row.software == options.software) fitted.push_back(row.curve);
  }
  if (fitted.empty()) {
    std::set<std::string_view> stacks;
    for (const language::CurveRow& row : rows)
      if (row.fitted) stacks.insert(row.software);
    const std::vector<std::string_view> names(stacks.begin(), stacks.end());
    throw InputError("--software", "found " + in_quotes(options.software) + ", for which " +
                                       language::shown_path(table.path) + " marks no curve as fitted, expected " +
                                       language::one_of(options.software, names));
  }
  const collectives::Transport transport = read_transport(options.software, library);
  check_distinct(std::array{named_output(options.output)}, library.files());
  const calibrate::TransportFit fit =
      fit_transport(fitted, calibrate::neutral_start(transport), {}, calibrate::Reach::wide);
  for (const language::CurveRow& row : rows) {
    if (row.software == options.software) report.add(row, predict(row.curve, fit.transport));
  }
  const std::string from = fmt::format("the {} curves of {} that it marks as fitted for {}", fitted.size(),
                                       language::visible(table.path), options.software);
  write_output(options.output, profile(options.software, from, fit) + as_comments(report.text()));
  return kDone;
}

int fit_transport_to_logs(const std::vector<ReadFile>& logs, const boost::program_options::variables_map& values) {
  language::Library library(language::config_folders());
  const Setting setting = read_setting("stepcast fit", values, library);
  const auto word = [&](const char* name) { return values[name].as<std::string>(); };
  check_distinct(std::array{named_output(word("output"))}, library.files());
  std::optional<collectives::Operation> operation;
  if (!word("op").empty()) operation = language::operation_named(word("op"), "--op");
  const topology::Cluster cluster = topology::build_cluster(setting.cluster.node, setting.cluster.fabric,
                                                            setting.cluster.gpus, setting.cluster.allocation);
  std::vector<calibrate::Curve> curves;
  std::string names;
  for (const ReadFile& log : logs) {
    const std::vector<calibrate::Curve> found = language::parse_log_curves(
        log.text, log.path, cluster, values["gpus-per-process"].as<std::uint32_t>(), operation);
    curves.insert(curves.end(), found.begin(), found.end());
    names += fmt::format("{}{} ({} B)", names.empty() ? "" : ", ", language::visible(language::shown_path(log.path)),
                         log.text.size());
  }
  const bool check = values.count("check") != 0;
  collectives::Transport transport = setting.software.transport;
  calibrate::TransportFit fit;
  if (!check) {
    fit = fit_transport(curves, transport);
    transport = fit.transport;
  }
  ErrorTable report;
  for (const calibrate::Curve& curve : curves) report.add({curve, setting.stack, !check}, predict(curve, transport));
  if (check) {
    write_output(word("output"), report.text());
    return kDone;
  }
  const std::string from =
      fmt::format("{} {} of {}, on {} GPUs of {}, from {}", curves.size(), curves.size() == 1 ? "table" : "tables",
                  names, setting.cluster.gpus, setting.cluster.node.name, setting.stack);
  write_output(word("output"), profile(setting.stack + "-fitted", from, fit) + as_comments(report.text()));
  return kDone;
}

}  // namespace stepcast::app
