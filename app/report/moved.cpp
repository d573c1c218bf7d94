#include "app/report/moved.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/report/percent.h"
#include "app/report/text_table.h"
#include "calibrate/fit/statistics.h"

namespace stepcast::app {
namespace {

using Align = TextTable::Align;

std::string plain_seconds(const std::optional<double>& s) { return s ? fmt::format("{:.4g}", *s) : "-"; }

const language::OldPrediction* find(const std::vector<language::OldPrediction>& old, const language::Question& q) {
  const auto at = std::ranges::find_if(old, [&](const language::OldPrediction& o) {
    return o.name == q.name && (o.table.empty() || o.table == q.table);
  });
  return at == old.end() ? nullptr : &*at;
}

std::string error(const std::optional<double>& predicted, const std::optional<double>& measured) {
  return predicted && measured ? signed_percent(*predicted / *measured - 1) : "-";
}

/// Infinite where a prediction came or went.
double change(const MovedRow& row) {
  return row.old_s && row.new_s ? std::abs(std::log(*row.new_s / *row.old_s)) : INFINITY;
}

std::string mape(std::span<const double> errors) {
  const auto mean = calibrate::mean_absolute(errors);
  return mean ? fmt::format("{:.2f}%", 100 * *mean) : "-";
}

}  // namespace

std::vector<MovedRow> moved_rows(const Comparison& now, const std::vector<language::OldPrediction>& old) {
  std::vector<MovedRow> out;
  for (const ComparedRow& row : now.rows) {
    const language::Question& q = row.answer->question;
    const language::OldPrediction* before = find(old, q);
    const std::optional<double> old_s = before == nullptr ? std::nullopt : before->predicted_s;
    if (plain_seconds(old_s) != plain_seconds(row.predicted_s))
      out.push_back({q.table, q.name, old_s, row.predicted_s, row.measured_s});
  }
  return out;
}

std::string moved_table(const Comparison& now, const std::vector<language::OldPrediction>& old) {
  std::vector<MovedRow> rows = moved_rows(now, old);
  std::string out = fmt::format("{} of {} predictions moved\n", rows.size(), now.rows.size());
  if (rows.empty()) return out;
  std::ranges::stable_sort(rows, std::greater(), change);
  TextTable moved({{"table", Align::left},
                   {"name", Align::left},
                   {"old, s"},
                   {"new, s"},
                   {"change"},
                   {"measured, s"},
                   {"old error"},
                   {"new error"}});
  for (const MovedRow& row : rows)
    moved.add({row.table, row.name, plain_seconds(row.old_s), plain_seconds(row.new_s),
               row.old_s && row.new_s ? signed_percent(*row.new_s / *row.old_s - 1) : "-",
               plain_seconds(row.measured_s), error(row.old_s, row.measured_s), error(row.new_s, row.measured_s)});

  struct TableErrors {
    std::vector<double> old, now;
  };
  std::map<std::string, TableErrors> of_table;
  for (const ComparedRow& row : now.rows) {
    const language::OldPrediction* before = find(old, row.answer->question);
    if (before == nullptr || !before->predicted_s || !row.error) continue;
    TableErrors& errors = of_table[row.answer->question.table];
    errors.old.push_back(*before->predicted_s / *row.measured_s - 1);
    errors.now.push_back(*row.error);
  }
  TextTable tables({{"table", Align::left}, {"rows"}, {"old MAPE"}, {"new MAPE"}});
  for (const auto& [table, errors] : of_table)
    tables.add({table, std::to_string(errors.old.size()), mape(errors.old), mape(errors.now)});
  return out + "\n" + moved.text() + "\n" + tables.text();
}

}  // namespace stepcast::app
