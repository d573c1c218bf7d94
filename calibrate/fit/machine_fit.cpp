#include "calibrate/fit/machine_fit.h"

#include <algorithm>
#include <iterator>

#include "calibrate/fit/copy_fits.h"
#include "calibrate/fit/kernel_fits.h"

namespace stepcast::calibrate {

std::vector<FittedModel> fit_machine(const Bundle& bundle, const schedules::Gpu& gpu) {
  using schedules::Precision;
  const Launches launches = measured_launches(bundle);
  std::vector<FittedModel> models;
  models.push_back(launches.model);
  models.push_back(fit_memory(bundle, gpu, launches));
  schedules::Gpu streaming = gpu;
  streaming.memory_efficiency = models.back().constants.front().estimate.value;
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16})
    models.push_back(fit_multiplies(bundle, streaming, precision, launches));
  models.push_back(other_multiplies(bundle));
  for (const std::string& maker : makers_of_attention(bundle))
    for (const bool backward : {false, true})
      models.push_back(fit_attention(bundle, streaming, maker, backward, launches));
  models.push_back(fit_sustained(bundle));
  models.push_back(fit_host(bundle));
  std::ranges::move(fit_copies(bundle), std::back_inserter(models));
  std::ranges::move(fit_interference(bundle), std::back_inserter(models));
  std::erase_if(models, [](const FittedModel& m) { return m.rows.empty() && m.notes.empty() && m.constants.empty(); });
  return models;
}

}  // namespace stepcast::calibrate
