#include "app/forecast_side.h"

#include <new>

#include "app/answers.h"
#include "sim/input_error.h"

namespace stepcast::app {

DiffSide forecast_side(Answer& answer, workload::Machines& machines, bool drawn) {
  schedules::ForecastOptions options;
  options.time_details = true;
  options.step_detail = options.trace = drawn;
  options.advise = false;
  if (!answer_one(answer, machines, options)) throw std::bad_alloc();
  if (!answer.forecast) throw InputError("", answer.question.error);
  return side_of_forecast(answer);
}

}  // namespace stepcast::app
