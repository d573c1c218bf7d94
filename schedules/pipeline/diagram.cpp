#include "schedules/pipeline/diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "schedules/pipeline/ideal.h"
#include "schedules/pipeline/validate.h"

namespace stepcast::schedules {
namespace {

std::string label(Shape shape, Pass pass) {
  std::string text = fmt::format("{}{}", "FBWB"[static_cast<std::size_t>(pass.kind)], index(pass.micro_batch));
  if (shape.virtual_stages > 1) text += static_cast<char>('a' + static_cast<int>(pass.virtual_stage));
  if (pass.with_next) text += '&';
  return text;
}

std::string count(std::uint32_t n, std::string_view one, std::string_view plural = "s") {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : plural);
}

/// One line per stage: names of passes in the slots where they run, empty where the stage waits.
std::vector<std::string> cells(Shape shape, const StageOrder& order, const std::vector<Time>& start, std::size_t slots,
                               Slots per_pass, std::size_t width) {
  const std::uint32_t lengths[] = {per_pass.forward, per_pass.backward, per_pass.weight,
                                   per_pass.backward + per_pass.weight};
  std::vector<std::string> line(slots, ".");
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto first = static_cast<std::size_t>(start[i].value);
    if (i > 0 && order[i - 1].with_next) first += per_pass.forward;  // drawn behind the one it runs with
    const std::uint32_t length = lengths[static_cast<std::size_t>(order[i].kind)];
    line[first] = label(shape, order[i]);
    for (std::uint32_t k = 1; k < length; ++k) line[first + k] = std::string(width, '-');
  }
  return line;
}

}  // namespace

std::string draw(Shape shape, std::span<const StageOrder> orders, Slots slots) {
  if (shape.virtual_stages > 26) throw std::logic_error("a diagram has letters for 26 virtual stages");
  const Time forward{slots.forward}, backward{slots.backward}, weight{shape.splits_backward ? slots.weight : 0};
  const IdealTimes times = ideal_times(shape, orders, forward, backward, weight);
  const std::vector<std::uint32_t> in_flight = validate(shape, orders).most_in_flight;
  std::size_t width = label(shape, {PassKind::forward, MicroBatchId{shape.micro_batches - 1}}).size();
  if (std::ranges::any_of(orders, [](const StageOrder& order) { return std::ranges::any_of(order, &Pass::with_next); }))
    ++width;
  const std::size_t stage_width = std::to_string(shape.stages - 1).size();

  std::string text =
      fmt::format("{}, {}", count(shape.stages, "stage"), count(shape.micro_batches, "micro-batch", "es"));
  if (shape.virtual_stages > 1) text += fmt::format(", {} virtual stages", shape.virtual_stages);
  text += fmt::format(": {} slots, bubble {:.1f} %\n", times.end.value, 100 * bubble_fraction(times));
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    text += fmt::format("stage {:>{}} |", s, stage_width);
    const auto columns = static_cast<std::size_t>(times.end.value);
    for (const std::string& cell : cells(shape, orders[s], times.start[s], columns, slots, width)) {
      text += fmt::format(" {:<{}}", cell, width);
    }
    text += fmt::format(" | {} in flight\n", in_flight[s]);
  }
  return text;
}

}  // namespace stepcast::schedules
