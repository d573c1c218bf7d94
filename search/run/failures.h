#pragma once

#include "sim/run_units.h"

namespace stepcast::search {

/// What failures cost a job that checkpoints. A job computes for an interval, then stalls for `copy` while its state is
/// taken, which then goes to storage in `write` while the job computes on (no time where the job stalls until all is
/// written). A checkpoint counts once it is written, and the next one waits for that. Failures come at a constant rate,
/// restarts included. After each the job stands for `restart` and goes on from the last checkpoint that counts.
struct FailureModel {
  Duration mean_between;  ///< failures of the whole job
  Duration copy, write;
  Duration restart;
};

/// The mean time between failures of a job of so many parts of each kind. Rates of parts that fail by themselves add
/// up. A mean time of zero stands for parts that do not fail; requires one that do.
struct Parts {
  double count = 0;
  Duration mean_between;
};
Duration mean_between_failures(const Parts& gpus, const Parts& nodes);

/// Where the time of a run goes, in the mean over all that can happen. The parts add up to the total.
struct RunTimes {
  Duration total{};
  Duration useful{};       ///< each step once
  Duration checkpoints{};  ///< each once
  Duration lost{};         ///< what was done and had to be done again
  Duration restarts{};
  double failures = 0;

  double goodput() const { return useful / total; }
};

/// Of `work`, with a checkpoint after every `interval` of it and at its end. Without writes behind the job's back this
/// is the complete model of Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS
/// 22 (2006), sec. 3: M e^(R/M) (e^((interval + copy)/M) - 1) for each interval. A write that takes W puts every
/// failure back by W more: e^(W/M) times that. The total is infinite where failures come so often that it cannot be
/// told.
RunTimes expected_times(const FailureModel& model, Duration work, Duration interval);

/// The same of a job that never fails.
RunTimes times_without_failures(Duration copy, Duration write, Duration work, Duration interval);

/// Expected time over useful time of a run that goes on forever.
double slowdown(const FailureModel& model, Duration interval);

/// sqrt(2 C M). Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
Duration young_interval(const FailureModel& model);

/// With x = C / (2 M): sqrt(2 C M) (1 + sqrt(x) / 3 + x / 9) - C below x = 1, else M. Source: Daly 2006, eq. 37.
Duration daly_interval(const FailureModel& model);

/// The interval of the least slowdown(), by Brent's minimisation. Requires a copy or a write above zero.
Duration best_interval(const FailureModel& model);

}  // namespace stepcast::search
