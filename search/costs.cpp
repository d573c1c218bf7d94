#include "search/costs.h"

namespace stepcast::search {

double computing_share(const schedules::Forecast& forecast) {
  Time kernels{}, all{};
  for (const schedules::StageReport& stage : forecast.stages) {
    kernels += stage.time.compute + stage.time.optimizer + stage.time.compression;
    all += stage.time.sum();
  }
  return kernels / all;
}

std::optional<Energy> energy_drawn(const schedules::RunPower& power, const schedules::ClusterSpec& cluster,
                                   const GpuTime& time, Duration total) {
  const bool stands = time.idle.value > 0;
  if (!power.computing || !power.waiting || (stands && !power.idle)) return std::nullopt;
  Energy gpu = *power.computing * time.computing + *power.waiting * time.waiting;
  if (stands) gpu += *power.idle * time.idle;
  Energy all = gpu * cluster.gpus;
  if (power.host) all += *power.host * total * nodes_filled(cluster);
  return all * power.usage_effectiveness.value_or(1);
}

std::optional<schedules::Money> money_spent(const schedules::TrainingRun& run, double gpu_hours,
                                            const std::optional<Energy>& energy) {
  if (run.kilowatt_hour_price && !energy) return std::nullopt;
  if (!run.gpu_hour_price && !run.kilowatt_hour_price) return std::nullopt;
  schedules::Money money = run.gpu_hour_price.value_or(schedules::Money{0, {}});
  money.amount *= gpu_hours;
  if (run.kilowatt_hour_price) {
    money.amount += run.kilowatt_hour_price->amount * to_kilowatt_hours(*energy);
    money.currency = run.kilowatt_hour_price->currency;
  }
  return money;
}

}  // namespace stepcast::search
