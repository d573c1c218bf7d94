#include "schedules/checks/check_run.h"

#include <cstdint>
#include <string>

namespace stepcast::schedules {

void check_run(const Scenario& s, std::vector<Problem>& problems) {
  const TrainingRun& run = s.run;
  if (run.tokens && !has_tokens(s.model.family))
    problems.push_back({"run.tokens", "samples of this model have no tokens; expected run.samples or run.epochs"});
  if (run.epochs && !run.dataset_samples) problems.push_back({"run.dataset_samples", "missing, with run.epochs"});
  if (run.dataset_samples && !run.epochs) problems.push_back({"run.epochs", "missing, with run.dataset_samples"});
  const auto past_the_limit = [&](const char* key, std::int64_t batch) {
    if (!run.batch_limit || batch <= *run.batch_limit) return;
    problems.push_back({"run.batch_limit", "batch_limit " + std::to_string(*run.batch_limit) + " is below " + key +
                                               " " + std::to_string(batch) + ", past which nobody knows the target"});
  };
  past_the_limit("training.global_batch", s.training.global_batch);
  if (run.target_batch) past_the_limit("run.target_batch", *run.target_batch);
  if (run.gpu_hour_price && run.kilowatt_hour_price &&
      run.gpu_hour_price->currency != run.kilowatt_hour_price->currency)
    problems.push_back({"run.kilowatt_hour_price", "found " + run.kilowatt_hour_price->currency +
                                                       ", but run.gpu_hour_price is in " +
                                                       run.gpu_hour_price->currency});
  if (run.power.idle && run.power.waiting && *run.power.idle > *run.power.waiting)
    problems.push_back({"run.power.idle", "a GPU without a job draws more than one that waits; expected no more"});
  if (run.power.waiting && run.power.computing && *run.power.waiting > *run.power.computing)
    problems.push_back({"run.power.waiting", "a GPU that waits draws more than one that computes; expected no more"});
}

}  // namespace stepcast::schedules
