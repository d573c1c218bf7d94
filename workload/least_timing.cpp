#include "workload/least_timing.h"

#include <span>
#include <utility>

#include "sim/input_error.h"
#include "workload/own_algorithm.h"

namespace stepcast::workload {

collectives::Timing least_timing(const Collective& c, const collectives::Timer& timer, bool late) {
  const collectives::Details details = c.details ? *c.details : collectives::Details{};
  const collectives::Timing& together =
      timer.time(c.operation, c.bytes, *c.groups, own_algorithm(c, timer), false, details);
  if ((together.alike() && !late) || c.groups->size() <= c.own) return together;
  collectives::Timing first = scaled(together, 1 - together.spread);
  try {
    const std::string chosen = together.algorithm + "/" + together.protocol;
    const collectives::Timing& alone =
        timer.time(c.operation, c.bytes, std::span(*c.groups).first(c.own), chosen, false, details);
    return alone.duration < first.duration ? alone : first;
  } catch (const InputError&) {  // what all of them do together one of them cannot
    return first;
  }
}

}  // namespace stepcast::workload
