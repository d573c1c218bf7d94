#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "schedules/results/step_detail.h"

namespace stepcast::app {

/// Stretches of a step, packed: a step of thousands of GPUs has half a million of them, and a report is sent by mail.
/// {"kinds": [[doing, virtual stage, place in traffic or -1, duration in ns], ...],
///  "rows": [{"stage", "stream", "packed"}, ...], "until_ns": null or the moment behind which they were left out}
/// `packed` is base64 of whole numbers, seven bits a byte, the lowest first, the eighth bit set on all but the last
/// byte of each. A stretch is its kind's place in `kinds` plus 1; or 0 and then doing, virtual stage, place in traffic
/// plus 1 and duration. Behind that stand its micro-batch less the one of the stretch before it in its row, and its
/// start less that one's end, in ns, both with the sign in the lowest bit.
nlohmann::ordered_json stretch_rows(std::span<const schedules::Stretched> stretches);

/// So many are kept at most, those that begin first.
inline constexpr std::size_t kMostStretches = 600'000;

}  // namespace stepcast::app
