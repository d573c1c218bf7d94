#pragma once

#include <string>

#include "app/report/terminal.h"
#include "schedules/forecast.h"

namespace stepcast::app {

/// The simulated step, a row for each stage and time from left to right. Both need a forecast with passes.

/// As text, each line at most terminal.width wide (and at least 40): F3 is forward of micro-batch 3, B3 backward, W3
/// its gradients of weights, F3b virtual stage b, F4&B1 both at once, O the optimizer, - goes on, . waits. A column
/// shows what runs at its middle; where a name does not fit there is its letter alone, & for both at once.
std::string schedule_text(const schedules::Forecast& forecast, Terminal terminal);

/// As an SVG page. `title`: its first line.
std::string schedule_svg(const schedules::Forecast& forecast, const std::string& title);

}  // namespace stepcast::app
