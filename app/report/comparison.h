#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/answer.h"
#include "calibrate/confidence/regret.h"

namespace stepcast::app {

/// One measured run beside its prediction. `error` is predicted / measured - 1.
struct ComparedRow {
  const Answer* answer = nullptr;
  std::optional<bool> fits;  ///< the plan can run and has the memory; nothing: nobody could tell
  std::string why;           ///< it has no prediction, or the memory is too small
  std::optional<double> measured_s, predicted_s, error;
  /// The error of a model that knows one thing of each table: the median of the FLOP/s per GPU that its runs reached.
  std::optional<double> null_error;
  std::optional<std::int64_t> measured_bytes, predicted_bytes;
  struct ComparedPhase {
    double measured_s = 0, predicted_s = 0;
    double error() const { return predicted_s / measured_s - 1; }
  };
  std::map<std::string, ComparedPhase> phases;
  std::optional<bool> covered;            ///< the measurement lies in the answer's band
  std::optional<bool> covered_new_table;  ///< in a band made without any row of its table
};

/// "ran" or "failed": what the run did.
std::string_view outcome_text(const ComparedRow& row);

/// Over the rows of one table, or over all.
struct ComparedTable {
  std::string table;
  std::size_t rows = 0;
  std::optional<double> mape, median_error, rank_correlation, memory_mape;
  std::optional<double> null_mape;                   ///< of ComparedRow::null_error
  std::optional<double> covered, covered_new_table;  ///< shares of the rows with an error
  std::optional<double> failed_found, ran_refused;   ///< of the runs that failed, and that ran: shares that do not fit
  /// Of plans that ran, if they are all of one model, batch and cluster.
  std::optional<calibrate::Regret> regret;
};

struct Comparison {
  std::vector<ComparedRow> rows;      ///< in the order of the answers; runs that state no measurement are left out
  std::vector<ComparedTable> tables;  ///< in the order in which they appear
  ComparedTable all;
  std::vector<std::string> unmeasured;  ///< names of the runs that are left out
};

/// `measured`: what the answers' bands were made from. The answers must outlive the result.
Comparison compare(std::span<const Answer> answers, std::span<const calibrate::Residual> measured);

std::string validate_table(const Comparison& comparison);
std::string validate_csv(const Comparison& comparison);

}  // namespace stepcast::app
