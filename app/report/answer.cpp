#include "app/report/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "schedules/plan/out_of_memory.h"
#include "sim/units_text.h"

namespace stepcast::app {

std::string advice_text(const schedules::OutOfMemory& over) {
  std::string here, nearest, larger;
  for (const schedules::Advice& each : over.advice) {
    const std::string settings = fmt::format("--set {}", fmt::join(each.settings, " --set "));
    if (each.missing > Bytes{})
      nearest = fmt::format("; nearest: {}, which still lacks {}", settings, text(each.missing));
    else if (each.more_gpus)
      larger = "; with more GPUs, try " + settings;
    else
      here += (here.empty() ? "try " : ", or ") + settings;
  }
  return here.empty() ? "nothing that was tried on these GPUs makes it fit" + nearest + larger : here;
}

std::string memory_message(const schedules::OutOfMemory& over) {
  const std::string_view where = over.memory == schedules::Tier::gpu    ? "on"
                                 : over.memory == schedules::Tier::host ? "of host memory on a node of"
                                                                        : "of drives on a node of";
  const std::string needed = text(over.needed), available = text(over.available);
  // What is short by less than is printed of both.
  const std::string lack = needed == available
                               ? fmt::format("{} more than {}", text(over.needed - over.available), available)
                               : fmt::format("{} of {}", needed, available);
  return fmt::format("out of memory: needs {} {} stage {}; largest: {}{}", lack, where, over.stage,
                     schedules::largest_in_words(over), over.advised ? "; " + advice_text(over) : "");
}

}  // namespace stepcast::app
