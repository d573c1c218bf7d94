#pragma once

#include <string>

#include "sim/units.h"

namespace stepcast::app {

/// A step's time, or an end of its band, where many stand below each other: in seconds, three digits, all of them where
/// there are more before the point. "0.0118 s", "7.19 s", "1262 s". Without the unit: seconds_text.
std::string step_text(Time time);
std::string seconds_text(Time time);

}  // namespace stepcast::app
