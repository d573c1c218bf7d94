#include "app/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/report/band.h"
#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "calibrate/fit/statistics.h"
#include "schedules/results/phases.h"
#include "schedules/results/reported_memory.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Align = TextTable::Align;
using schedules::Forecast;
using schedules::StageReport;

bool holds(const calibrate::Band& band, Time measured) { return band.low <= measured && measured <= band.high; }

ComparedRow compare_row(const Answer& answer, std::span<const calibrate::Residual> residuals) {
  ComparedRow row;
  row.answer = &answer;
  const schedules::Measured& measured = answer.question.scenario.measured;
  if (measured.step_time) row.measured_s = to_seconds(*measured.step_time);
  if (measured.peak_memory) row.measured_bytes = measured.peak_memory->value;
  row.why = answer.question.error;
  if (!answer.forecast) {
    if (answer.question.refused) row.fits = false;
    return row;
  }
  const Forecast& f = *answer.forecast;
  row.fits = !f.out_of_memory;
  if (f.out_of_memory) row.why = memory_message(*f.out_of_memory);
  if (f.simulated) row.predicted_s = to_seconds(f.step);
  if (row.measured_s && row.predicted_s) row.error = *row.predicted_s / *row.measured_s - 1;
  if (measured.step_time && answer.band) {
    row.covered = holds(*answer.band, *measured.step_time);
    const auto others = calibrate::without(residuals, answer.question.table, "");
    if (const auto new_table = calibrate::band(others, calibrate::traits(answer.question.scenario), f.step))
      row.covered_new_table = holds(*new_table, *measured.step_time);
  }
  std::vector<schedules::MemoryUse> memory;
  for (const StageReport& stage : f.stages) memory.push_back(stage.memory);
  if (!memory.empty()) row.predicted_bytes = schedules::reported_memory(answer.question.scenario, memory).value;
  for (const schedules::Phase& phase : schedules::phases()) {
    const auto stated = measured.phases.find(std::string(phase.name));
    const std::optional<Time> predicted = phase.predicted(f);
    if (stated != measured.phases.end() && predicted)
      row.phases[stated->first] = {to_seconds(stated->second), to_seconds(*predicted)};
  }
  return row;
}

/// Of those that know.
std::optional<double> share(std::span<ComparedRow* const> rows, std::optional<bool> ComparedRow::*flag) {
  double known = 0, yes = 0;
  for (const ComparedRow* row : rows)
    if (row->*flag) {
      ++known;
      yes += *(row->*flag);
    }
  return known == 0 ? std::nullopt : std::optional(yes / known);
}

/// The model FLOP/s that a run reached on each of its GPUs.
std::optional<double> reached(const ComparedRow& row) {
  if (!row.error) return std::nullopt;
  return row.answer->forecast->model_flops_per_gpu.value * *row.predicted_s / *row.measured_s;
}

/// As long as the table's median rate would take.
void add_null_errors(std::span<ComparedRow*> table) {
  std::vector<double> rates;
  for (const ComparedRow* row : table)
    if (const auto rate = reached(*row)) rates.push_back(*rate);
  const std::optional<double> usual = calibrate::median(rates);
  if (rates.size() < 2 || *usual == 0) return;  // one run would be its own median
  for (ComparedRow* row : table)
    if (const auto rate = reached(*row)) row->null_error = *rate / *usual - 1;
}

/// What tells the spaces of plans apart: a space has all plans of one model and batch on one cluster.
auto space_of(const schedules::Scenario& s) {
  return std::tuple(s.software.name, s.cluster.node.name, s.cluster.gpus, s.model.family, s.model.layers,
                    s.model.hidden, s.training.global_batch, s.training.sequence);
}

std::optional<calibrate::Regret> regret_of(std::span<ComparedRow* const> rows) {
  std::vector<calibrate::TriedPlan> plans;
  for (const ComparedRow* row : rows) {
    if (space_of(row->answer->question.scenario) != space_of(rows.front()->answer->question.scenario)) return {};
    if (row->error) plans.push_back({*row->measured_s, *row->predicted_s, row->fits.value_or(true)});
  }
  return calibrate::regret(plans);
}

ComparedTable summarise(std::string name, std::span<ComparedRow* const> rows) {
  ComparedTable table;
  table.table = std::move(name);
  table.rows = rows.size();
  const auto refused = [&](schedules::RunOutcome outcome) -> std::optional<double> {
    double all = 0, not_fitting = 0;
    for (const ComparedRow* row : rows) {
      if (!row->fits || row->answer->question.scenario.measured.outcome != outcome) continue;
      ++all;
      not_fitting += !*row->fits;
    }
    return all == 0 ? std::nullopt : std::optional(not_fitting / all);
  };
  table.failed_found = refused(schedules::RunOutcome::failed);
  table.ran_refused = refused(schedules::RunOutcome::ran);
  table.covered = share(rows, &ComparedRow::covered);
  table.covered_new_table = share(rows, &ComparedRow::covered_new_table);
  std::vector<double> errors, measured, predicted, memory, null;
  for (const ComparedRow* row : rows) {
    if (row->null_error) null.push_back(*row->null_error);
    if (row->error) {
      errors.push_back(*row->error);
      measured.push_back(*row->measured_s);
      predicted.push_back(*row->predicted_s);
    }
    if (row->measured_bytes && row->predicted_bytes)
      memory.push_back(static_cast<double>(*row->predicted_bytes) / static_cast<double>(*row->measured_bytes) - 1);
  }
  table.mape = calibrate::mean_absolute(errors);
  table.median_error = calibrate::median(errors);
  table.rank_correlation = calibrate::rank_correlation(measured, predicted);
  table.memory_mape = calibrate::mean_absolute(memory);
  table.null_mape = calibrate::mean_absolute(null);
  table.regret = regret_of(rows);
  return table;
}

std::string percent(const std::optional<double>& share, bool with_sign) {
  if (!share) return "-";
  return with_sign ? signed_percent(*share) : fmt::format("{:.2f}%", 100 * *share);
}

std::string whole_percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f}%", 100 * *share) : "-";
}

std::string seconds(const std::optional<double>& value) { return value ? fmt::format("{:.4g} s", *value) : "-"; }

std::string fits_text(const ComparedRow& row) { return !row.fits ? "" : *row.fits ? "true" : "false"; }

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string_view outcome_text(const ComparedRow& row) {
  return row.answer->question.scenario.measured.outcome == schedules::RunOutcome::failed ? "failed" : "ran";
}

Comparison compare(std::span<const Answer> answers, std::span<const calibrate::Residual> measured) {
  Comparison out;
  for (const Answer& answer : answers) {
    const schedules::Measured& m = answer.question.scenario.measured;
    if (answer.question.error.empty() && m.outcome == schedules::RunOutcome::ran && !m.step_time && !m.peak_memory &&
        m.phases.empty()) {
      out.unmeasured.push_back(answer.question.name);
      continue;
    }
    out.rows.push_back(compare_row(answer, measured));
  }
  std::vector<std::string> names;
  std::map<std::string, std::vector<ComparedRow*>> by_table;
  std::vector<ComparedRow*> all;
  for (ComparedRow& row : out.rows) {
    const std::string& table = row.answer->question.table;
    if (!by_table.contains(table)) names.push_back(table);
    by_table[table].push_back(&row);
    all.push_back(&row);
  }
  for (const std::string& name : names) add_null_errors(by_table[name]);
  for (const std::string& name : names) out.tables.push_back(summarise(name, by_table[name]));
  out.all = summarise("all", all);
  return out;
}

std::string validate_table(const Comparison& comparison) {
  std::string out;
  TextTable rows(
      {{"name", Align::left}, {"GPUs"}, {"measured"}, {"predicted"}, {"error"}, {"80% band"}, {"", Align::left}});
  std::vector<Bar> bars;
  for (const ComparedRow& row : comparison.rows) {
    bars.push_back(row.error ? plain_bar(std::abs(*row.error)) : Bar{});
    const language::Question& question = row.answer->question;
    std::string note = row.why;
    if (question.scenario.measured.outcome == schedules::RunOutcome::failed)
      note = note.empty() ? "failed when it was tried" : "failed when it was tried; here: " + note;
    for (const auto& [name, phase] : row.phases)
      note += fmt::format("{}{} {} of {} ({})", note.empty() ? "" : ", ", name, text(from_seconds(phase.predicted_s)),
                          text(from_seconds(phase.measured_s)), signed_percent(phase.error()));
    rows.add({question.name, question.scenario.cluster.gpus > 0 ? std::to_string(question.scenario.cluster.gpus) : "-",
              seconds(row.measured_s), seconds(row.predicted_s), percent(row.error, true), band_text(row.answer->band),
              note});
  }
  constexpr std::size_t kError = 4;  // column
  rows.draw_bars(kError, std::move(bars));
  out += rows.text();
  const auto out_of_range = [](const ComparedRow& row) { return row.answer->band && !row.answer->band->in_range; };
  if (std::ranges::any_of(comparison.rows, out_of_range)) out += kStarLine;
  out += "\n";
  std::vector<TextTable::Column> columns{{"table", Align::left}, {"rows"},       {"MAPE"},
                                         {"median error"},       {"null model"}, {"rank correlation"},
                                         {"memory MAPE"},        {"in band"},    {"as a new table"}};
  const bool some_failed = comparison.all.failed_found.has_value();
  if (some_failed) columns.insert(columns.end(), {{"failed, refused"}, {"ran, refused"}});
  const bool some_spaces = std::ranges::any_of(comparison.tables, [](const auto& t) { return t.regret.has_value(); });
  if (some_spaces) columns.insert(columns.end(), {{"regret"}, {"of five"}});
  TextTable tables(std::move(columns));
  const auto add = [&](const ComparedTable& t) {
    std::vector<std::string> cells{t.table,
                                   std::to_string(t.rows),
                                   percent(t.mape, false),
                                   percent(t.median_error, true),
                                   percent(t.null_mape, false),
                                   t.rank_correlation ? fmt::format("{:.3f}", *t.rank_correlation) : "-",
                                   percent(t.memory_mape, false),
                                   whole_percent(t.covered),
                                   whole_percent(t.covered_new_table)};
    if (some_failed) cells.insert(cells.end(), {whole_percent(t.failed_found), percent(t.ran_refused, false)});
    if (some_spaces)
      cells.insert(cells.end(), {percent(t.regret ? std::optional(t.regret->first) : std::nullopt, false),
                                 percent(t.regret ? std::optional(t.regret->best_of_five) : std::nullopt, false)});
    tables.add(std::move(cells));
  };
  for (const ComparedTable& t : comparison.tables) add(t);
  if (comparison.tables.size() != 1) add(comparison.all);
  out += tables.text();
  if (!comparison.unmeasured.empty())
    out += fmt::format("\nleft out, for nothing was measured: {} of {} runs; the first, {}\n",
                       comparison.unmeasured.size(), comparison.unmeasured.size() + comparison.rows.size(),
                       comparison.unmeasured.front());
  return out;
}

std::string validate_csv(const Comparison& comparison) {
  std::string out = csv_line({"name", "table", "gpus", "measured_s", "predicted_s", "error", "measured_bytes",
                              "predicted_bytes", "low_s", "high_s", "in_range", "measured_outcome", "fits", "why"});
  for (const ComparedRow& row : comparison.rows) {
    const language::Question& q = row.answer->question;
    const std::vector<std::string> band = band_cells(row.answer->band);
    out += csv_line({q.name, q.table, std::to_string(q.scenario.cluster.gpus), number(row.measured_s),
                     number(row.predicted_s), number(row.error),
                     row.measured_bytes ? std::to_string(*row.measured_bytes) : "",
                     row.predicted_bytes ? std::to_string(*row.predicted_bytes) : "", band[0], band[1], band[2],
                     std::string(outcome_text(row)), fits_text(row), row.why});
  }
  return out;
}

}  // namespace stepcast::app
