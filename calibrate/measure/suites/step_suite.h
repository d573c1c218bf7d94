#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Times stepcast's own training steps: those of one GPU on GPU 0 of a single node, then all splits of `gpus` GPUs of
/// every node, and appends them to steps/stepcast.csv. Before a split over several GPUs is timed, its loss is
/// compared with what one GPU finds for a tiny model. No step starts later than `time_limit` seconds from now, by the
/// clock of process 0; 0: no limit. Returns how many of the comparisons failed.
int run_step_suite(const std::filesystem::path& folder, const std::string& run, const ProcessGroup& cluster, int gpus,
                   bool quick, double time_limit);

}  // namespace stepcast::measure
