#include "app/report/recorded_detail_json.h"

#include <nlohmann/json.hpp>

#include "app/report/json_text.h"
#include "app/report/stretch_rows.h"

namespace stepcast::app {
namespace {

using schedules::Doing;

Doing doing_of(calibrate::TracePart part) {
  using calibrate::TracePart;
  switch (part) {
    case TracePart::multiplies:
      return Doing::multiplies;
    case TracePart::attention:
      return Doing::attention;
    case TracePart::memory_bound:
      return Doing::memory_bound;
    case TracePart::optimizer:
      return Doing::optimizer;
    case TracePart::unclassed:
      return Doing::unclassed;
    case TracePart::communication:
      return Doing::communication;
    case TracePart::copy:
      return Doing::copy;
    case TracePart::host:
      return Doing::host;
    case TracePart::idle:
      break;
  }
  return Doing::idle;
}

}  // namespace

std::string recorded_detail_json(const calibrate::StepTrace& trace) {
  std::vector<schedules::Stretched> stretches;
  std::vector<std::string> streams;
  for (const calibrate::TracedRow& row : trace.rows) {
    const auto number = static_cast<std::uint32_t>(streams.size());
    streams.push_back(row.stream ? "stream " + std::to_string(*row.stream) : "");
    for (const calibrate::TracedStretch& each : row.stretches)
      stretches.push_back({.stream = number,
                           .doing = doing_of(each.part),
                           .traffic = each.kernel,
                           .start = each.start,
                           .duration = each.duration});
  }
  nlohmann::ordered_json doings = nlohmann::ordered_json::array();
  for (const schedules::DoingName& each : schedules::kDoings)
    doings.push_back({{"key", each.key}, {"title", each.title}});
  return json_text({{"step_s", to_seconds(trace.length)},
                    {"device", trace.device},
                    {"streams", streams},
                    {"doings", std::move(doings)},
                    {"stretches", stretch_rows(stretches)},
                    {"kernels", trace.kernels}},
                   -1);
}

}  // namespace stepcast::app
