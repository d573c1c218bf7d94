// Any bytes as pipeline.orders, a line for each stage: passes, or the first word that is none. What is read can be
// checked for any shape it may have.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/validate.h"

namespace {

/// Lines; at most 64, which is more stages than any scenario names one by one.
std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty() && found.size() < 64) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast::schedules;
  const std::vector<std::string> stages = lines({reinterpret_cast<const char*>(data), size});
  const CustomOrders orders = read_orders(stages);
  if (!orders.problem.empty() || stages.empty()) return 0;
  for (const std::uint32_t virtual_stages : {1u, 2u})
    validate({.stages = static_cast<std::uint32_t>(stages.size()),
              .micro_batches = 4,
              .virtual_stages = virtual_stages,
              .splits_backward = orders.splits_backward},
             orders.stages, {});
  return 0;
}
