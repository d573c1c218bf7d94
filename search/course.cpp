#include "search/course.h"

#include <algorithm>
#include <optional>

#include "schedules/pipeline/placement.h"

namespace stepcast::search {

using namespace schedules;

bool Passes::sends(ChunkPlace from, bool forward) const {
  const std::optional<ChunkPlace> to = next_place(shape, from, forward);
  if (!to || to->stage == from.stage) return false;
  return forward || chunks[to->stage][to->virtual_stage].backward > Time{};  // else it is frozen
}

Course::Course(const Passes& passes, Updates updates) : p_(passes), drains_(updates == Updates::after_flush) {
  sent_.resize(p_.shape.stages);
  between_.resize(p_.shape.stages);
  behind_.resize(p_.shape.stages);
  beside_.resize(p_.shape.stages);
}

void Course::send(std::uint32_t stage, Time down, Time up) {
  sent_[stage] = {down, up};
  heads_.clear();
}

void Course::between(std::uint32_t stage, Time time) { between_[stage] = std::max(between_[stage], time); }

void Course::behind(std::uint32_t stage, Time time) {
  behind_[stage] += time;
  tails_.clear();
}

void Course::beside(std::uint32_t stage, Time time) { beside_[stage] = std::max(beside_[stage], time); }

Time Course::least() const {
  Time end{};
  for (std::uint32_t stage = 0; stage < p_.shape.stages; ++stage) end = std::max({end, end_of(stage), beside_[stage]});
  return end;
}

Time Course::busy(std::uint32_t stage, bool with_weights) const {
  Time all{};
  for (std::uint32_t v = 0; v < p_.shape.virtual_stages; ++v) {
    const ChunkTimes& chunk = p_.chunks[stage][v];
    all += (chunk.forward + chunk.backward + (with_weights ? chunk.weight : Time{})) * visits(stage, v);
  }
  return all;
}

std::int64_t Course::visits(std::uint32_t stage, std::uint32_t v) const {
  const std::int64_t all = micro_batches(p_.s);
  if (copies(p_.shape) == 1) return all;
  return held(p_.shape, {stage, v}).copy == 0 ? (all + 1) / 2 : all / 2;
}

Time Course::head(std::uint32_t stage) const {
  Time least = head_of(stage, 0);
  for (std::uint32_t v = 1; v < p_.shape.virtual_stages; ++v) least = std::min(least, head_of(stage, v));
  return least;
}

Time Course::sent(ChunkPlace from, bool forward) const {
  const std::optional<ChunkPlace> to = next_place(p_.shape, from, forward);
  if (!to || to->stage == from.stage) return {};
  return goes_down(p_.shape, from.virtual_stage) == forward ? sent_[from.stage].down : sent_[from.stage].up;
}

void Course::go_along() const {
  const std::uint32_t of_copy = chunks(p_.shape);
  heads_.assign(of_copy * copies(p_.shape), {});
  tails_ = heads_;
  for (std::uint32_t copy = 0; copy < copies(p_.shape); ++copy)
    for (std::uint32_t chunk = 0; chunk < of_copy; ++chunk) {
      const std::size_t at = std::size_t{copy} * of_copy + chunk;
      const ChunkPlace here = place(p_.shape, {copy, chunk});
      tails_[at] = behind_[here.stage];
      if (chunk == 0) continue;
      const ChunkPlace before = place(p_.shape, {copy, chunk - 1});
      heads_[at] = heads_[at - 1] + times(before).forward + sent(before, true);
      const Time backward = times(before).backward;  // none: it is frozen, and nothing comes back
      if (backward > Time{}) tails_[at] = std::max(tails_[at], sent(here, false) + backward + tails_[at - 1]);
    }
}

std::size_t Course::number(std::uint32_t stage, std::uint32_t v) const {
  const ModelChunk at = held(p_.shape, {stage, v});
  return std::size_t{at.copy} * chunks(p_.shape) + at.chunk;
}

Time Course::head_of(std::uint32_t stage, std::uint32_t v) const {
  if (heads_.empty()) go_along();
  return heads_[number(stage, v)];
}

Time Course::tail(std::uint32_t stage) const {
  if (tails_.empty()) go_along();
  Time least = tails_[number(stage, 0)];
  for (std::uint32_t v = 1; v < p_.shape.virtual_stages; ++v) least = std::min(least, tails_[number(stage, v)]);
  return least;
}

Time Course::end_of(std::uint32_t stage) const {
  const Time between = between_[stage];
  if (!drains_) return busy(stage);  // of a step among others, which its update may overlap
  const Time begin = head(stage) + between;
  return begin + std::max(busy(stage) + behind_[stage], busy(stage, false) + tail(stage));
}

}  // namespace stepcast::search
