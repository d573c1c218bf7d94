#include "app/report/sensitivity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "app/report/json_text.h"
#include "app/report/paragraph.h"
#include "app/report/text_table.h"
#include "schedules/results/quantities.h"
#include "schedules/results/time_parts.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using search::Elasticity;
using search::ResourceEffect;

/// What the factors by which resources are changed leave of the sum of all elasticities: more is told.
constexpr double kToldAsLeft = 0.001;

struct Rated {
  double per_second = 0;
  std::string_view unit;  ///< in JSON
  std::string text;
};

std::optional<Rated> rated(const SensitivityReport& report, const search::RatedResource& resource) {
  const auto at = resource.rated_at != nullptr ? resource.rated_at(report.scenario) : std::nullopt;
  if (!at) return std::nullopt;
  if (const auto* bandwidth = std::get_if<Bandwidth>(&*at)) return Rated{bandwidth->value, "B/s", text(*bandwidth)};
  return Rated{std::get<FlopRate>(*at).value, "FLOP/s", text(std::get<FlopRate>(*at))};
}

double seconds_saved(const SensitivityReport& report, Time step) {
  return to_seconds(report.sensitivity.forecast.step - step);
}

/// Money for each second by which a step gets shorter.
std::optional<double> price_of_second(const SensitivityReport& report, const ResourceEffect& effect) {
  const auto price = report.prices.find(std::string(effect.resource->name));
  const double saved = seconds_saved(report, effect.elasticity.better);
  if (price == report.prices.end() || saved <= 0) return std::nullopt;
  return price->second / saved;
}

/// "-0.712", and no sign before what rounds to nothing.
std::string elasticity_text(double elasticity) {
  std::string out = fmt::format("{:+.3f}", elasticity);
  return out == "-0.000" || out == "+0.000" ? "0.000" : out;
}

/// "87.1 ms (0.71%)"; "-1.20 ms (-0.10%)" where the step gets longer.
std::string saved_text(const SensitivityReport& report, Time step, int decimals) {
  const Time now = report.sensitivity.forecast.step, saved = now - step;
  if (saved == Time{}) return "0";
  const Time length = {std::abs(saved.value)};
  return fmt::format("{}{} ({:.{}f}%)", saved < Time{} ? "-" : "", text(length), 100 * (saved / now), decimals);
}

std::string kink_text(const Elasticity& elasticity) {
  if (!elasticity.kink) return {};
  return fmt::format("kink: {} if better, {} if worse", elasticity_text(elasticity.if_better),
                     elasticity_text(elasticity.if_worse));
}

double left(const search::Sensitivity& s) { return s.together.central - s.sum; }

std::string sums_text(const search::Sensitivity& s) {
  std::string out = fmt::format("sum of the elasticities {}, all resources together {}", elasticity_text(s.sum),
                                elasticity_text(s.together.central));
  if (std::abs(left(s)) > kToldAsLeft)
    out +=
        fmt::format("; {} is left, where resources hide behind each other or choices change", elasticity_text(left(s)));
  if (std::abs(s.together.central + 1) > kToldAsLeft)
    out += "\nall together is not -1: what the library picks by absolute rates changes with them";
  return shown_lines(out + "\n");
}

/// Why the step gets longer with better resources.
std::string longer_text(const search::Sensitivity& s) {
  std::vector<std::string_view> by_picks, others;
  for (const ResourceEffect& effect : s.effects)
    if (effect.lengthens(s.forecast.step)) (effect.by_picks ? by_picks : others).push_back(effect.resource->name);
  const auto longer = [](const std::vector<std::string_view>& names) {
    return fmt::format("a better {} makes the step longer: ", fmt::join(names, " or "));
  };
  std::string out;
  if (!by_picks.empty())
    out += shown_line(
        longer(by_picks),
        "NCCL picks algorithms by its own model of rates, and with other rates it picks slower ones, as on "
        "a real machine; with the fastest ones (--set software.transport.as_nccl_picks=false) the step gets no "
        "longer",
        2);
  if (!others.empty())
    out += shown_line(longer(others), "not for what NCCL picks; flows may meet that did not meet before", 2);
  return out;
}

std::string path_text(const search::Sensitivity& s) {
  if (!s.forecast.critical_path) return "no critical path: the step has no one begin and end\n";
  std::string out;
  for (const schedules::TimePart& part : schedules::kTimeParts) {
    const double share = *s.forecast.critical_path.*part.time / s.forecast.step;
    if (share >= 0.0005) out += fmt::format("{}{} {:.1f}%", out.empty() ? "" : ", ", part.title, 100 * share);
  }
  return shown_line("critical path: ", out, 2);
}

std::string memory_text(const SensitivityReport& report) {
  const Bytes peak = schedules::peak_memory(report.sensitivity.forecast), size = report.scenario.cluster.gpu.memory;
  if (report.sensitivity.forecast.out_of_memory)
    return shown_line("memory: ",
                      fmt::format("does not fit: {} of {} on the fullest GPU; times are of a step that would",
                                  text(peak), text(size)),
                      2);
  return shown_line(
      "memory: ",
      fmt::format("{} of {} on the fullest GPU, {} left; the step does not depend on it while the plan fits",
                  text(peak), text(size), text(size - peak)),
      2);
}

Json path_json(const search::Sensitivity& s) {
  if (!s.forecast.critical_path) return nullptr;
  Json path = Json::object();
  for (const schedules::TimePart& part : schedules::kTimeParts)
    path[std::string(part.key)] = *s.forecast.critical_path.*part.time / s.forecast.step;
  return path;
}

Json elasticity_json(const Elasticity& e) {
  return {{"elasticity", e.central},
          {"elasticity_if_better", e.if_better},
          {"elasticity_if_worse", e.if_worse},
          {"kink", e.kink},
          {"better_step_time_s", to_seconds(e.better)},
          {"worse_step_time_s", to_seconds(e.worse)},
          {"twice_step_time_s", to_seconds(e.twice)}};
}

}  // namespace

std::string sensitivity_table(const SensitivityReport& report) {
  const search::Sensitivity& s = report.sensitivity;
  std::vector<TextTable::Column> columns{
      {"resource", TextTable::Align::left}, {"rated at"}, {"elasticity"}, {"1% better saves"}, {"twice as good saves"}};
  if (!report.prices.empty()) columns.push_back({"price of a second"});
  columns.push_back({"", TextTable::Align::left});
  TextTable table(columns);
  const auto add = [&](std::string name, std::string rate, const Elasticity& e, const std::optional<double>& price) {
    std::vector<std::string> cells{std::move(name), std::move(rate), elasticity_text(e.central),
                                   saved_text(report, e.better, 2), saved_text(report, e.twice, 1)};
    if (!report.prices.empty()) cells.push_back(price ? fmt::format("{:.4g}", *price) : "");
    cells.push_back(kink_text(e));
    table.add(std::move(cells));
  };
  std::vector<Bar> bars;
  for (const ResourceEffect& effect : s.effects) {
    const std::optional<Rated> rate = rated(report, *effect.resource);
    bars.push_back(plain_bar(std::abs(effect.elasticity.central)));
    add(std::string(effect.resource->name), rate ? rate->text : "", effect.elasticity, price_of_second(report, effect));
  }
  add("all together", "", s.together, std::nullopt);
  bars.emplace_back();
  constexpr std::size_t kElasticity = 2;  // column
  table.draw_bars(kElasticity, std::move(bars));
  return fmt::format("{}: a step takes {}\n\n", report.scenario.name, text(s.forecast.step)) + table.text() + "\n" +
         sums_text(s) + longer_text(s) + path_text(s) + memory_text(report);
}

std::string sensitivity_csv(const SensitivityReport& report) {
  std::string out =
      csv_line({"resource", "rated_at", "rated_in", "elasticity", "elasticity_if_better", "elasticity_if_worse", "kink",
                "better_step_time_s", "worse_step_time_s", "twice_step_time_s", "price_per_second"});
  for (const ResourceEffect& effect : report.sensitivity.effects) {
    const std::optional<Rated> rate = rated(report, *effect.resource);
    const std::optional<double> price = price_of_second(report, effect);
    std::vector<std::string> cells{std::string(effect.resource->name), rate ? fmt::format("{}", rate->per_second) : "",
                                   rate ? std::string(rate->unit) : ""};
    const Json elasticity = elasticity_json(effect.elasticity);
    for (const Json& value : elasticity) cells.push_back(value.dump());
    cells.push_back(price ? fmt::format("{}", *price) : "");
    out += csv_line(cells);
  }
  return out;
}

std::string sensitivity_json(const SensitivityReport& report) {
  const search::Sensitivity& s = report.sensitivity;
  Json all = Json::array();
  for (const ResourceEffect& effect : s.effects) {
    const std::optional<Rated> rate = rated(report, *effect.resource);
    const std::optional<double> price = price_of_second(report, effect);
    Json each{{"resource", effect.resource->name},
              {"rated_at", rate ? Json(rate->per_second) : Json()},
              {"rated_in", rate ? Json(rate->unit) : Json()}};
    each.update(elasticity_json(effect.elasticity));
    each["price_per_second"] = price ? Json(*price) : Json();
    all.push_back(std::move(each));
  }
  const Bytes peak = schedules::peak_memory(s.forecast), size = report.scenario.cluster.gpu.memory;
  return json_text(
      {{"scenario", report.scenario.name},
       {"step_time_s", to_seconds(s.forecast.step)},
       {"fits", !s.forecast.out_of_memory},
       {"resources", all},
       {"sum", s.sum},
       {"together", elasticity_json(s.together)},
       {"left", left(s)},
       {"critical_path", path_json(s)},
       {"memory", {{"size_bytes", size.value}, {"peak_bytes", peak.value}, {"left_bytes", (size - peak).value}}}});
}

}  // namespace stepcast::app
