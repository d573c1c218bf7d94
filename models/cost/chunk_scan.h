#pragma once

#include "models/layers/kernels.h"
#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// Time of a scan's kernel alone, launch not included: that of its multiplies, of its memory traffic, or of the steps
/// that wait for each other, whichever takes longest. What these kernels reach is bound by their multiprocessors and
/// not by the matrix units in them, so that it is a rate of one multiprocessor (Software::scan_rates), which H20, H100
/// and GB200 share where their peaks differ 17 times (calibrate/data/chunk_scans.csv, docs/model.md).
Time chunk_scan_time(const ChunkProducts& kernel, const Gpu& gpu, const Software& software);

/// FLOP/s that all of a GPU's multiprocessors reach in it.
FlopRate chunk_scan_rate(const ChunkProducts& kernel, const Gpu& gpu, const Software& software);

}  // namespace stepcast::schedules
