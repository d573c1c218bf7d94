#include "app/report/step_text.h"

#include <fmt/format.h>

namespace stepcast::app {

std::string seconds_text(Time time) {
  const double seconds = to_seconds(time);
  if (seconds <= 0) return "0";
  constexpr double kWhole = 99.95, kLeast = 9.995, kStep = 10;  // from here on no decimals, one, two ...
  if (seconds >= kWhole) return fmt::format("{:.0f}", seconds);
  int decimals = 1;
  for (double least = kLeast; seconds < least; least /= kStep) ++decimals;
  return fmt::format("{:.{}f}", seconds, decimals);
}

std::string step_text(Time time) { return seconds_text(time) + " s"; }

}  // namespace stepcast::app
