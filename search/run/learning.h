#pragma once

#include <cstdint>
#include <optional>

#include "scenario/training_run.h"

namespace stepcast::search {

/// How many samples a batch needs for what `one` sample of a very small batch is enough for: 1 + B / B_crit, or 1 where
/// the run says no critical batch. Source: McCandlish et al., "An Empirical Model of Large-Batch Training" (arXiv
/// 1812.06162), eq. 2.11: S / S_min - 1 = 1 / (E / E_min - 1), which with B_crit = E_min / S_min and B = E / S is
/// E = E_min (1 + B / B_crit) and S = S_min (1 + B_crit / B).
double samples_for_one(const schedules::TrainingRun& run, std::int64_t batch);

/// Samples until the target, of steps of `batch` samples, where `stated` are enough with steps of `stated_batch`.
double samples_to_target(const schedules::TrainingRun& run, double stated, std::int64_t stated_batch,
                         std::int64_t batch);

}  // namespace stepcast::search
