#include "schedules/pipeline/period.h"

#include <algorithm>
#include <limits>

#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {
namespace {

bool same_visit(const Pass& a, const Pass& b) {
  return a.kind == b.kind && a.virtual_stage == b.virtual_stage && a.with_next == b.with_next;
}

bool later_by(const Pass& earlier, const Pass& later, std::uint32_t micro_batches) {
  return same_visit(earlier, later) && index(later.micro_batch) == index(earlier.micro_batch) + micro_batches;
}

/// Passes after which the middle of an order repeats for so many micro-batches later; 0: it does not. The middle is a
/// quarter of the order: within a chunk's turn much looks like a repetition that is none.
std::size_t passes_of_period(const StageOrder& order, std::uint32_t micro_batches) {
  const std::size_t middle = order.size() / 2;
  for (std::size_t passes = 1; middle + 2 * passes <= order.size(); ++passes) {
    if (!later_by(order[middle], order[middle + passes], micro_batches)) continue;
    const std::size_t window = std::max(passes, order.size() / 4), begin = middle - std::min(middle, window / 2);
    for (std::size_t i = begin; i < std::min(begin + window, order.size() - passes); ++i)
      if (!later_by(order[i], order[i + passes], micro_batches)) return 0;
    return passes;
  }
  return 0;
}

/// The least number of micro-batches for which an order's middle repeats; 0: it does not.
std::uint32_t micro_batches_of_period(const StageOrder& order) {
  const std::size_t middle = order.size() / 2;
  for (std::size_t next = middle + 1; next < order.size(); ++next) {
    if (!same_visit(order[middle], order[next])) continue;
    if (order[next].micro_batch <= order[middle].micro_batch) return 0;
    const std::uint32_t micro_batches = index(order[next].micro_batch) - index(order[middle].micro_batch);
    if (passes_of_period(order, micro_batches) > 0) return micro_batches;
  }
  return 0;
}

/// Which of a chunk's visits by a micro-batch a pass is: forward, backward, or for its weights.
std::size_t visit(const Pass& pass) {
  const std::size_t kind = pass.kind == PassKind::forward ? 0 : pass.kind == PassKind::weight ? 1 : 2;
  return std::size_t{3} * pass.virtual_stage + kind;
}

/// Whether each chunk is visited by one micro-batch after the other, forward, backward and for its weights: then those
/// that are left out are the ones between others, whatever the stage.
bool in_turn(const Shape& shape, const StageOrder& order) {
  std::vector<std::uint32_t> next(std::size_t{3} * shape.virtual_stages, 0);
  for (const Pass& pass : order) {
    std::uint32_t& expected = next[visit(pass)];
    if (index(pass.micro_batch) < expected) return false;
    expected = index(pass.micro_batch) + 1;
  }
  return true;
}

/// Whether every visit that the order makes is made among so many passes from its middle on. Else, where all forwards
/// come before the middle, say, micro-batches without backwards would be left.
bool hold_every_visit(const Shape& shape, const StageOrder& order, std::size_t passes) {
  std::vector<bool> held(std::size_t{3} * shape.virtual_stages, false);
  for (const Pass& pass : std::span(order).subspan(order.size() / 2, passes)) held[visit(pass)] = true;
  return std::ranges::all_of(order, [&](const Pass& pass) { return held[visit(pass)]; });
}

}  // namespace

std::uint32_t Period::times() const {
  std::size_t least = std::numeric_limits<std::uint32_t>::max();
  for (const OfStage& stage : stages) least = std::min(least, (stage.end - stage.first) / stage.passes);
  return static_cast<std::uint32_t>(least);
}

std::optional<Period> find_period(const Shape& shape, std::span<const StageOrder> orders) {
  if (copies(shape) > 1) return std::nullopt;
  Period period;
  period.micro_batches = micro_batches_of_period(orders.front());
  if (period.micro_batches == 0) return std::nullopt;
  for (const StageOrder& order : orders) {
    const std::size_t passes = passes_of_period(order, period.micro_batches);
    if (passes == 0 || !in_turn(shape, order) || !hold_every_visit(shape, order, passes)) return std::nullopt;
    Period::OfStage& stage = period.stages.emplace_back(Period::OfStage{order.size() / 2, order.size() / 2, passes});
    while (stage.first > 0 && later_by(order[stage.first - 1], order[stage.first - 1 + passes], period.micro_batches))
      --stage.first;
    while (stage.end + passes < order.size() &&
           later_by(order[stage.end], order[stage.end + passes], period.micro_batches))
      ++stage.end;
    stage.end += passes;
  }
  return period;
}

Period with_times(Period period, std::uint32_t times) {
  const std::uint32_t now = period.times();
  for (Period::OfStage& stage : period.stages) stage.end = stage.end + stage.passes * times - stage.passes * now;
  return period;
}

std::vector<StageOrder> without(std::span<const StageOrder> orders, const Period& period, std::uint32_t left_out) {
  std::vector<StageOrder> shorter;
  for (std::size_t s = 0; s < orders.size(); ++s) {
    const auto first = orders[s].begin() + static_cast<std::ptrdiff_t>(period.stages[s].first);
    const auto next = first + static_cast<std::ptrdiff_t>(period.stages[s].passes * left_out);
    StageOrder& order = shorter.emplace_back(orders[s].begin(), first);
    order.reserve(orders[s].size() - period.stages[s].passes * left_out);
    for (auto pass = next; pass != orders[s].end(); ++pass) {
      order.push_back(*pass);
      order.back().micro_batch = MicroBatchId{index(pass->micro_batch) - period.micro_batches * left_out};
    }
  }
  return shorter;
}

}  // namespace stepcast::schedules
