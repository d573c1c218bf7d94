#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/report/terminal.h"
#include "schedules/results/results.h"
#include "schedules/results/time_parts.h"

namespace stepcast::app {

/// A part of a bar, which is drawn as its group is.
struct BarPiece {
  double length = 0;
  schedules::PartGroup group = schedules::PartGroup::compute;
};

/// A row of a table as a bar: lengths one behind the other, each of a group of a step's parts.
struct Bar {
  std::vector<BarPiece> pieces{};  ///< none: the row has no bar

  double length() const;
};

/// Of one length.
Bar plain_bar(double length);
/// A step, mean over these stages: what it computes, what communication nothing hides, what it waits.
Bar step_bar(std::span<const schedules::StageReport> stages);

/// The bar in as many columns as `columns` are of `longest`, followed by blanks up to `columns`. Lengths below zero are
/// none.
std::string bar_text(const Bar& bar, double longest, std::size_t columns, const Terminal& terminal);

/// "█ compute  ▒ communication  ░ waiting"
std::string bar_legend(const Terminal& terminal);

}  // namespace stepcast::app
