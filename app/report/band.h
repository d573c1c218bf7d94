#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/confidence/band.h"

namespace stepcast::app {

/// "12.9 to 14.1 s", three digits, with a star out of range; "-" without a band.
std::string band_text(const std::optional<calibrate::Band>& band);

/// "80% of 9 measured rows of gpt with megatron-lm-2022 on a100-sxm4-80gb"
std::string band_basis(const calibrate::Band& band);

/// Why it is out of range: the first reasons, and how many more there are.
std::string reasons_text(const calibrate::Band& band);

/// What the star means, where one of the bands has it; else empty.
inline constexpr const char* kStarLine =
    "* no measured row is like it; run that scenario alone to see why. Its band is of all tables\n";

/// low_s, high_s, in_range: empty without a band.
std::vector<std::string> band_cells(const std::optional<calibrate::Band>& band);

}  // namespace stepcast::app
