// forecast_one SCENARIO [KEY=VALUE...]: how long one training step takes, and what it holds in memory.

#include <cstdio>
#include <exception>

#include "stepcast/stepcast.h"

int main(int count, char** words) try {
  if (count < 2) {
    std::fputs("usage: forecast_one SCENARIO [KEY=VALUE...]\n", stderr);
    return 2;
  }
  const stepcast::Scenario scenario = stepcast::load(words[1], {words + 2, words + count});
  stepcast::Machines machines;
  const stepcast::Forecast forecast = stepcast::forecast(scenario, machines);
  std::printf("step_time_s %.9g\n", stepcast::to_seconds(forecast.step));
  for (const stepcast::schedules::StageReport& stage : forecast.stages)
    std::printf("stage %u: %.1f GiB\n", stage.stage, static_cast<double>(stage.memory.peak().value) / (1 << 30));
  return forecast.out_of_memory ? 3 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
