#include "app/report/replay_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/how_many.h"
#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

std::string millis(Time time) { return fmt::format("{:.3f}", to_seconds(time) * 1e3); }

}  // namespace

std::string replay_table(const ReplayReport& report) {
  std::string text =
      fmt::format("{}, {}{}\nstep {} ms, all ends after {} ms\ntimes in ms\n", language::visible(report.traces),
                  how_many(report.ranks.size(), "rank"), report.exact ? ", as stepcast wrote them" : "",
                  millis(report.step), millis(report.end));
  TextTable table({{"ranks"}, {"nodes"}, {"kernels"}, {"end"}});
  for (std::size_t i = 0; i < report.ranks.size();) {
    const ReplayedRank& first = report.ranks[i];
    std::size_t last = i;
    const auto same = [&](const ReplayedRank& r) {
      return r.nodes == first.nodes && r.kernels == first.kernels && r.end == first.end;
    };
    while (last + 1 < report.ranks.size() && same(report.ranks[last + 1])) ++last;
    table.add({last == i ? fmt::format("{}", i) : fmt::format("{}-{}", i, last), fmt::format("{}", first.nodes),
               millis(first.kernels), millis(first.end)});
    i = last + 1;
  }
  return text + table.text();
}

std::string replay_json(const ReplayReport& report) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const ReplayedRank& rank : report.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"nodes", rank.nodes},
                     {"kernels_s", to_seconds(rank.kernels)},
                     {"end_s", to_seconds(rank.end)}});
  return json_text({{"traces", report.traces},
                    {"exact", report.exact},
                    {"step_s", to_seconds(report.step)},
                    {"step_ps", report.step.value},
                    {"end_s", to_seconds(report.end)},
                    {"ranks", std::move(ranks)}});
}

std::string replay_csv(const ReplayReport& report) {
  std::string text = csv_line({"traces", "step_s", "rank", "nodes", "kernels_s", "end_s"});
  for (const ReplayedRank& rank : report.ranks)
    text += csv_line({report.traces, fmt::format("{}", to_seconds(report.step)), std::to_string(rank.rank),
                      std::to_string(rank.nodes), fmt::format("{}", to_seconds(rank.kernels)),
                      fmt::format("{}", to_seconds(rank.end))});
  return text;
}

}  // namespace stepcast::app
