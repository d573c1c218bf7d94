#include "app/report/collective_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "calibrate/fit/statistics.h"
#include "language/core/visible_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using collectives::Operation;

bool rooted(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

/// Floats as nccl-tests counts them: of the whole, or of one rank's part.
std::int64_t count(const CollectiveReport& report, Bytes size) {
  const bool whole = reduces(report.operation)
                         ? report.operation != Operation::reduce_scatter
                         : report.operation == Operation::broadcast || report.operation == Operation::send_recv;
  return size.value / 4 / (whole ? 1 : report.ranks);
}

std::string micros(Time time) {
  const double us = to_seconds(time) * 1e6;
  return us < 100 ? fmt::format("{:.2f}", us) : us < 10'000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

double error(const CollectiveResult& row) { return to_seconds(row.time) / to_seconds(*row.measured) - 1; }
double error_in_place(const CollectiveResult& row) {
  return to_seconds(*row.in_place) / to_seconds(*row.measured_in_place) - 1;
}

bool tells(const std::optional<Time>& measured) { return measured && measured->value > 0; }

bool has_in_place(const CollectiveReport& report) {
  return std::ranges::any_of(report.rows,
                             [](const CollectiveResult& row) { return row.measured_in_place.has_value(); });
}

/// Distinct algorithms, in the order met.
std::vector<std::string> algorithms_of(const CollectiveReport& report) {
  std::vector<std::string> names;
  for (const CollectiveResult& row : report.rows) {
    if (std::ranges::find(names, row.algorithm) == names.end()) names.push_back(row.algorithm);
  }
  return names;
}

std::string measured_table(const CollectiveReport& report) {
  const bool in_place = has_in_place(report);
  std::vector<TextTable::Column> columns{{"size (B)"}, {"predicted (us)"}, {"measured (us)"}, {"error"}};
  if (in_place) columns.insert(columns.end(), {{"in place"}, {"measured"}, {"error"}});
  columns.insert(
      columns.end(),
      {{"busbw (GB/s)"}, {"measured"}, {"algorithm", TextTable::Align::left}, {"protocol", TextTable::Align::left}});
  TextTable table(columns);
  std::vector<double> small, large;
  for (const CollectiveResult& row : report.rows) {
    CollectiveResult seen = row;
    seen.time = *row.measured;
    const auto shown = [&](double off) {
      if (row.size.value == 0) return std::string();
      (row.size.value >= 1'000'000 ? large : small).push_back(std::abs(off));
      return fmt::format("{:+.1f} %", 100 * off);
    };
    std::vector<std::string> cells{std::to_string(row.size.value), micros(row.time), micros(*row.measured),
                                   tells(row.measured) ? shown(error(row)) : ""};
    if (in_place) {
      cells.push_back(row.in_place ? micros(*row.in_place) : "");
      cells.push_back(row.measured_in_place ? micros(*row.measured_in_place) : "N/A");
      cells.push_back(tells(row.measured_in_place) ? shown(error_in_place(row)) : "");
    }
    cells.insert(cells.end(), {fmt::format("{:.2f}", busbw_GBps(report, row)),
                               fmt::format("{:.2f}", busbw_GBps(report, seen)), row.algorithm, row.protocol});
    table.add(std::move(cells));
  }
  std::string text = table.text();
  const auto add = [&](const std::vector<double>& errors, const char* what) {
    if (const std::optional<double> middle = calibrate::median(errors))
      text += fmt::format("median absolute error, {}: {:.1f} % of {} rows\n", what, 100 * *middle, errors.size());
  };
  text += '\n';
  add(large, "1 MB and more");
  add(small, "below 1 MB");
  return text;
}

std::string side_by_side(const CollectiveReport& report, const std::vector<std::string>& names) {
  std::vector<TextTable::Column> head{{"size (B)"}};
  for (const std::string& name : names) head.push_back({name});
  head.push_back({"fastest", TextTable::Align::left});
  head.push_back({"busbw (GB/s)"});
  TextTable table(head);
  for (std::size_t begin = 0; begin < report.rows.size();) {
    std::size_t end = begin;
    std::vector<std::string> cells{std::to_string(report.rows[begin].size.value)};
    cells.resize(names.size() + 1);
    std::size_t best = begin;
    for (; end < report.rows.size() && report.rows[end].size == report.rows[begin].size; ++end) {
      const auto column = std::ranges::find(names, report.rows[end].algorithm) - names.begin();
      cells[static_cast<std::size_t>(column) + 1] = micros(report.rows[end].time);
      if (report.rows[end].time < report.rows[best].time) best = end;
    }
    cells.push_back(report.rows[best].algorithm);
    cells.push_back(fmt::format("{:.2f}", busbw_GBps(report, report.rows[best])));
    table.add(std::move(cells));
    begin = end;
  }
  return "times in us\n" + table.text();
}

}  // namespace

double algbw_GBps(const CollectiveResult& row) {
  return row.time.value == 0 ? 0 : static_cast<double>(row.size.value) / to_seconds(row.time) * 1e-9;
}

double busbw_GBps(const CollectiveReport& report, const CollectiveResult& row) {
  return algbw_GBps(row) * bus_factor(report.operation, report.ranks);
}

std::string collective_table(const CollectiveReport& report) {
  const std::string tried =
      report.hashings == 0 ? "" : fmt::format(", {} hashings of the fabric: times are their medians", report.hashings);
  std::string head =
      fmt::format("{} over {} GPU{}{}{}\n", collectives::name(report.operation), report.ranks,
                  report.ranks == 1 ? "" : "s",
                  report.software.empty() ? "" : ", stack " + language::visible(report.software), tried) +
      (report.log.empty() ? ""
                          : "measured: " + language::visible(report.log) +
                                (has_in_place(report) ? ", out of place and in place\n" : ", out of place\n"));
  for (const std::string& note : report.notes) head += "note: " + language::visible(note) + '\n';
  if (!report.log.empty()) return head + measured_table(report);
  const std::vector<std::string> names = algorithms_of(report);
  // "auto" may take one algorithm for one size and another for the next: that is still one row per size.
  const bool one_per_size = std::ranges::adjacent_find(report.rows, {}, &CollectiveResult::size) == report.rows.end();
  if (!one_per_size) return head + side_by_side(report, names);
  std::vector<TextTable::Column> columns{{"size (B)"}, {"count"}, {"type"}, {"redop"}, {"root"}, {"time (us)"}};
  if (report.hashings != 0) columns.insert(columns.end(), {{"least"}, {"most"}});
  columns.insert(columns.end(), {{"algbw (GB/s)"},
                                 {"busbw (GB/s)"},
                                 {"algorithm", TextTable::Align::left},
                                 {"protocol", TextTable::Align::left}});
  TextTable table(columns);
  for (const CollectiveResult& row : report.rows) {
    std::vector<std::string> cells{std::to_string(row.size.value),
                                   std::to_string(count(report, row.size)),
                                   "float",
                                   reduces(report.operation) ? "sum" : "none",
                                   rooted(report.operation) ? "0" : "-1",
                                   micros(row.time)};
    if (row.over)
      cells.insert(cells.end(), {micros(from_seconds(row.over->least)), micros(from_seconds(row.over->most))});
    cells.insert(cells.end(), {fmt::format("{:.2f}", algbw_GBps(row)), fmt::format("{:.2f}", busbw_GBps(report, row)),
                               row.algorithm, row.protocol});
    table.add(std::move(cells));
  }
  return head + table.text();
}

std::string collective_json(const CollectiveReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CollectiveResult& row : report.rows) {
    nlohmann::ordered_json out{{"op", collectives::name(report.operation)},
                               {"algorithm", row.algorithm},
                               {"protocol", row.protocol},
                               {"ranks", report.ranks},
                               {"size_bytes", row.size.value},
                               {"time_s", to_seconds(row.time)},
                               {"algbw_GBps", algbw_GBps(row)},
                               {"busbw_GBps", busbw_GBps(report, row)}};
    if (row.over) {
      out["hashings"] = report.hashings;
      out["time_least_s"] = row.over->least;
      out["time_most_s"] = row.over->most;
    }
    if (row.measured) {
      out["measured_s"] = to_seconds(*row.measured);
      out["error"] = tells(row.measured) ? nlohmann::ordered_json(error(row)) : nlohmann::ordered_json(nullptr);
    }
    if (row.measured_in_place) {
      out["in_place_s"] = to_seconds(*row.in_place);
      out["measured_in_place_s"] = to_seconds(*row.measured_in_place);
      out["error_in_place"] =
          tells(row.measured_in_place) ? nlohmann::ordered_json(error_in_place(row)) : nlohmann::ordered_json(nullptr);
    }
    rows.push_back(std::move(out));
  }
  return json_text({{"rows", std::move(rows)}, {"notes", report.notes}});
}

std::string collective_csv(const CollectiveReport& report) {
  std::vector<std::string> head{"op",         "algorithm", "protocol",   "ranks",
                                "size_bytes", "time_s",    "algbw_GBps", "busbw_GBps"};
  if (!report.log.empty())
    head.insert(head.end(), {"measured_s", "error", "in_place_s", "measured_in_place_s", "error_in_place"});
  if (report.hashings != 0) head.insert(head.end(), {"hashings", "time_least_s", "time_most_s"});
  std::string text = csv_line(head);
  for (const CollectiveResult& row : report.rows) {
    std::vector<std::string> cells{std::string(collectives::name(report.operation)),
                                   row.algorithm,
                                   row.protocol,
                                   std::to_string(report.ranks),
                                   std::to_string(row.size.value),
                                   fmt::format("{}", to_seconds(row.time)),
                                   fmt::format("{}", algbw_GBps(row)),
                                   fmt::format("{}", busbw_GBps(report, row))};
    if (!report.log.empty()) {
      const auto seconds = [](const std::optional<Time>& time) {
        return time ? fmt::format("{}", to_seconds(*time)) : std::string();
      };
      cells.insert(cells.end(), {seconds(row.measured), tells(row.measured) ? fmt::format("{}", error(row)) : "",
                                 seconds(row.in_place), seconds(row.measured_in_place),
                                 tells(row.measured_in_place) ? fmt::format("{}", error_in_place(row)) : ""});
    }
    if (row.over)
      cells.insert(cells.end(), {std::to_string(report.hashings), fmt::format("{}", row.over->least),
                                 fmt::format("{}", row.over->most)});
    text += csv_line(cells);
  }
  return text;
}

std::string explain(const collectives::Timing& timing, Bytes size, const topology::Cluster& cluster) {
  const double seconds = to_seconds(timing.duration);
  std::string out = fmt::format("\n{} by {}: {}, of which {} with next to no bytes\n", text(size), timing.algorithm,
                                text(timing.duration), text(timing.latency));
  struct KindUse {
    const char* name;
    topology::LinkKind kind;
    std::uint32_t used = 0, all = 0;
    double busiest = 0;
    std::vector<std::string> idle = {};
  };
  KindUse kinds[] = {{"NVLink", topology::LinkKind::nvlink},
                     {"PCIe", topology::LinkKind::pcie},
                     {"C2C", topology::LinkKind::c2c},
                     {"socket", topology::LinkKind::socket},
                     {"network", topology::LinkKind::network}};
  const auto kind_of = [&](topology::LinkKind kind) -> KindUse& {
    return *std::ranges::find(kinds, kind, &KindUse::kind);
  };
  std::vector<bool> carries(cluster.links());
  const collectives::Timing::Load* most = nullptr;
  double share = 0;
  for (const collectives::Timing::Load& load : timing.loads) {
    if (load.bytes <= 0 || seconds <= 0) continue;
    carries[topology::index(load.link)] = true;
    const topology::Link link = cluster.link(load.link);
    const double busy = load.bytes / link.bandwidth.value / seconds;
    KindUse& kind = kind_of(link.kind);
    kind.busiest = std::max(kind.busiest, busy);
    if (most == nullptr || busy > share) {
      most = &load;
      share = busy;
    }
  }
  for (std::uint32_t l = 0; l < cluster.links(); ++l) {
    const topology::Link link = cluster.link(topology::LinkId{l});
    KindUse& kind = kind_of(link.kind);
    ++kind.all;
    if (carries[l]) {
      ++kind.used;
    } else if (kind.idle.size() < 6) {
      kind.idle.push_back(link.from + " -> " + link.to);
    }
  }
  if (most != nullptr) {
    const topology::Link link = cluster.link(most->link);
    out += fmt::format("busiest link: {} -> {}, {} of {}, {:.0f} % used\n", link.from, link.to,
                       text(Bytes{std::llround(most->bytes)}), text(link.bandwidth), 100 * share);
  }
  for (const KindUse& kind : kinds) {
    if (kind.all == 0) continue;
    out += fmt::format("{}: {} of {} link directions carry something, the busiest {:.0f} % of the time", kind.name,
                       kind.used, kind.all, 100 * kind.busiest);
    if (!kind.idle.empty()) {
      out += "; idle: " + fmt::format("{}", fmt::join(kind.idle, ", "));
      if (kind.all - kind.used > kind.idle.size()) {
        out += fmt::format(" and {} more", kind.all - kind.used - kind.idle.size());
      }
    }
    out += '\n';
  }
  return language::visible_lines(out);
}

}  // namespace stepcast::app
