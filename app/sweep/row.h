#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/format.h"
#include "app/report/answer.h"
#include "app/sweep/grid.h"
#include "app/sweep/shard.h"
#include "schedules/results/quantities.h"

namespace stepcast::app {

/// What a sweep says of one point.
struct SweepRow {
  std::size_t point = 0;
  std::vector<std::string> cells;  ///< as programs read them, by column; empty: nothing
};

/// The columns of a sweep's rows: its axes, the quantities of a forecast, `fits` and `error`. Before them stands the
/// point's number, from 1, and behind them the mark of the sweep that the row is of.
class SweepColumns {
 public:
  explicit SweepColumns(const SweepGrid& grid);

  enum class Kind : char { number, flag, text };
  struct RowColumn {
    std::string title;
    Kind kind;
  };
  const std::vector<RowColumn>& all() const { return columns_; }
  std::size_t axes() const { return axes_; }  ///< they come first, as in the grid
  std::size_t fits() const { return columns_.size() - 2; }
  std::size_t error() const { return columns_.size() - 1; }
  /// Where a quantity stands; nothing: it is in no column.
  std::optional<std::size_t> of(std::string_view quantity) const;

  SweepRow row(const SweepGrid& grid, std::size_t point, const Answer& answer) const;

 private:
  std::vector<const schedules::ReportedQuantity*> quantities_;
  std::vector<RowColumn> columns_;
  std::size_t axes_;
};

/// Which line of which sweep it is.
struct RowMark {
  std::string sweep;
  std::optional<std::size_t> point{};  ///< of a row
  std::optional<Shard> end{};          ///< or of the line behind the rows of a shard
};

/// Of a line of csv or jsonl, without its line end. Nothing: it is no line of a sweep.
std::optional<RowMark> read_mark(Format format, std::string_view line);

/// How rows are written, each on a line of its own, and read again.
class RowFormat {
 public:
  /// csv or jsonl. `mark`: of the sweep.
  RowFormat(Format format, const SweepColumns& columns, std::string mark);

  /// The line before all rows; empty: none.
  std::string header() const;
  std::string line(const SweepRow& row) const;
  /// The line behind the rows of a shard: all of them are there.
  std::string end(const Shard& shard) const;
  /// How every first line begins, however early it breaks off.
  std::string first_bytes() const;

  /// A row of a file, from its line without the line end. Nothing: it is no line of such rows.
  std::optional<SweepRow> read(std::string_view line) const;

 private:
  std::string csv(const std::string& point, const std::vector<std::string>& cells) const;
  std::string json(const SweepRow& row) const;
  std::optional<std::vector<std::string>> csv_cells(std::string_view line) const;
  std::vector<std::string> json_cells(std::string_view line) const;

  const Format format_;
  const SweepColumns& columns_;
  const std::string mark_;
  std::vector<std::string> json_keys_;  ///< of the columns: "\"mfu\":"
};

}  // namespace stepcast::app
