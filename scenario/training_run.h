#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/run_units.h"

namespace stepcast::schedules {

/// An amount in the currency that whoever asks named.
struct Money {
  double amount = 0;
  std::string currency;  ///< "USD"
};

/// What machines draw. A value that nobody stated is absent, never assumed.
struct RunPower {
  std::optional<Power> computing{};             ///< of a GPU whose kernels run
  std::optional<Power> waiting{};               ///< of a GPU in the rest of a step, and during checkpoints
  std::optional<Power> idle{};                  ///< of a GPU while the job is being restarted
  std::optional<Power> host{};                  ///< of a node without its GPUs
  std::optional<double> usage_effectiveness{};  ///< what the building draws over what its machines draw
};

/// How often parts fail, each by itself, at a constant rate, and how long the job then stands.
struct RunFailures {
  std::optional<Duration> gpu_mtbf{}, node_mtbf{};  ///< mean time between failures of one GPU, of one node
  std::optional<Duration> restart{};                ///< from a failure until steps are made again
};

/// A whole run: how far it goes, and what is known of its costs.
struct TrainingRun {
  /// The target: one of the three, or none where nobody asks for more than a step. Epochs are of dataset_samples.
  std::optional<double> tokens{}, samples{}, epochs{};
  std::optional<double> dataset_samples{};
  std::optional<std::int64_t>
      target_batch{};  ///< samples of a step with which the target is known; none: the scenario's
  std::optional<Money> gpu_hour_price{}, kilowatt_hour_price{};
  RunPower power{};
  RunFailures failures{};
  std::optional<std::int64_t> critical_batch{};  ///< samples
  std::optional<std::int64_t> batch_limit{};     ///< samples: up to so many the target does not depend on the batch

  bool has_target() const { return tokens || samples || epochs; }
};

}  // namespace stepcast::schedules
