#include "app/report/time_unit.h"

namespace stepcast::app {

TimeUnit unit_of(Time step) {
  if (step < milliseconds(1)) return {"microseconds", 1e-6};
  return step < milliseconds(100) ? TimeUnit{"milliseconds", 1e-3} : TimeUnit{"seconds", 1};
}

}  // namespace stepcast::app
