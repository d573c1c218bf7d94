#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/robust_fit.h"
#include "models/cost/gemm.h"

namespace stepcast::calibrate {

/// One measured multiply: what share of the peak rate it reached.
struct GemmSample {
  schedules::GemmShape shape;
  double efficiency = 0;
};

struct GemmFit {
  schedules::GemmModel model;
  double fitted_mape = 0;    ///< mean |predicted time / measured - 1| over the samples fitted to
  double held_out_mape = 0;  ///< over those that were not
  double held_out_median = 0;
  std::size_t fitted = 0, held_out = 0;
};

/// Reads a table with the header m,n,k,layout,output_bytes,efficiency; lines that start with # are comments. The layout
/// is BLAS's: TN and NN store the first input in rows of k elements, NT in rows of m.
/// Throws InputError with file:line for anything else, and for efficiencies above 1.1: a boost clock may be a little
/// above the peak that a data sheet states, not more.
std::vector<GemmSample> read_gemm_samples(const std::string& path);

/// The same of what was read already; `path` is what messages call it.
std::vector<GemmSample> parse_gemm_samples(const std::string& table, const std::string& path);

/// Fits every constant of the model to every other distinct shape (the 1st, 3rd, ... in file order; repeats of a shape
/// go with it) by fit_robust, and tries it on the rest. `launch` is the fixed time a
/// measured kernel includes. Throws InputError, at `path`, when there are fewer than 20 distinct shapes.
GemmFit fit_gemm(const std::vector<GemmSample>& samples, const schedules::GemmMachine& machine, Time launch,
                 const std::string& path);

/// The model's constants as a fit moves them, and back; `start` is where the fit starts.
std::vector<Free> gemm_constants(const schedules::GemmModel& start);
schedules::GemmModel gemm_model_of(const std::vector<double>& constants);

/// Places to start from besides: which tile is fastest changes in steps, and each fit ends where its start leads.
std::vector<std::vector<double>> gemm_starts();

/// predicted / measured time of one sample.
double gemm_time_ratio(const GemmSample& sample, const schedules::GemmModel& model,
                       const schedules::GemmMachine& machine, Time launch);

}  // namespace stepcast::calibrate
