#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "app/report/answer.h"
#include "schedules/results/quantities.h"

namespace stepcast::app {

/// What a quantity is of one answer, as a bare number of its unit: seconds, bytes, ... Nothing: it is absent.
using Figure = std::variant<std::monostate, std::int64_t, double>;

/// Nothing too where there is no forecast, or none that was simulated and the quantity needs that.
Figure figure(const schedules::ReportedQuantity& quantity, const Answer& answer);

/// As a program reads it, with every digit; empty where it is absent.
std::string plain_text(const Figure& figure);

/// As people read it: "1.25 s", "12.4 GiB", "41.3%"; empty where it is absent.
std::string text(const Figure& figure, schedules::Unit unit);

/// With so many decimals, or two digits where these would tell next to nothing.
std::string rounded(double value, int decimals);

}  // namespace stepcast::app
