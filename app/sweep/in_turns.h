#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/mpi_module/processes.h"
#include "app/sweep/in_order.h"
#include "app/sweep/point_answers.h"
#include "app/sweep/row.h"

namespace stepcast::app {

/// Answers so many points on all threads of this process and, if there are others, of those: the first process answers
/// the first point, the next one the next, and so on in turns. `processes`: null: this one alone. `point(i)`: the
/// number of the i-th. In the first process `take(row)` is called for each in order, with nothing where a condition
/// leaves it out. Returns there whether any process could not make a row for a reason that is not its plan's.
template <class Point, class Take>
bool answer_in_turns(std::size_t points, PointAnswers& answers, unsigned threads, Processes* processes,
                     const SweepColumns& columns, const Point& point, const Take& take) {
  const std::string failed = "failed";
  const std::size_t number = processes == nullptr ? 0 : processes->number(),
                    of = processes == nullptr ? 1 : processes->count();
  const RowFormat format(Format::csv, columns, "");  // each cell as it is
  const auto read = [&](std::string line) -> std::optional<SweepRow> {
    if (line.empty()) return std::nullopt;
    line.pop_back();  // the line end
    std::optional<SweepRow> row = format.read(line);
    if (!row) throw std::logic_error("a process sent what is no row");
    return row;
  };
  in_order(
      points > number ? (points - number - 1) / of + 1 : 0, threads,
      [&](unsigned thread, std::size_t i) { return answers.row(thread, point(i * of + number)); },
      [&](std::size_t i, std::optional<SweepRow> row) {
        if (number > 0) return processes->send(row ? format.line(*row) : "");
        take(std::move(row));
        for (unsigned other = 1; other < of && i * of + other < points; ++other) take(read(processes->receive(other)));
      });
  bool some_failed = answers.some_failed();
  if (number > 0) processes->send(some_failed ? failed : "");
  for (unsigned other = 1; number == 0 && other < of; ++other)
    if (processes->receive(other) == failed) some_failed = true;
  return some_failed;
}

}  // namespace stepcast::app
