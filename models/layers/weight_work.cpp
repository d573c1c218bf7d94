#include "models/layers/weight_work.h"

#include "models/layers/collective_copies.h"
#include "models/layers/low_precision.h"

namespace stepcast::schedules {

WeightWork weight_work(const Scenario& s) {
  const CollectiveCopies copies = copies_of_passes(s);
  return {.casts_anew = is_low_precision(s.training.precision) && s.data_parallel.zero == 3,
          .copies_gathered = copies.gathered > 0,
          .copies_summed = copies.summed > 0};
}

}  // namespace stepcast::schedules
