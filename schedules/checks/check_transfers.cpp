#include "schedules/checks/check_transfers.h"

#include <fmt/format.h>

namespace stepcast::schedules {

std::vector<Problem> check_transfers(const Scenario& s) {
  const Consistency found = s.data_parallel.consistency;
  if (found == Consistency::bulk_synchronous) return {};
  return {
      {"data_parallel.consistency",
       fmt::format("found {} beside --detail transfers, expected bulk_synchronous: workers that do not wait for each "
                   "other have no step that could be one graph of transfers; without --detail transfers each message "
                   "between workers and servers is simulated on the links that it crosses",
                   kConsistencyNames[static_cast<std::size_t>(found)])}};
}

}  // namespace stepcast::schedules
