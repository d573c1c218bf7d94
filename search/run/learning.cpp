#include "search/run/learning.h"

namespace stepcast::search {

double samples_for_one(const schedules::TrainingRun& run, std::int64_t batch) {
  if (!run.critical_batch) return 1;
  return 1 + static_cast<double>(batch) / static_cast<double>(*run.critical_batch);
}

double samples_to_target(const schedules::TrainingRun& run, double stated, std::int64_t stated_batch,
                         std::int64_t batch) {
  return stated * samples_for_one(run, batch) / samples_for_one(run, stated_batch);
}

}  // namespace stepcast::search
