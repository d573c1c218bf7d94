#include "schedules/pipeline/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace stepcast::schedules {
namespace {

class Problems {
 public:
  void add(std::string problem) {
    if (++found_ <= Validation::kMostProblems) listed_.push_back(std::move(problem));
  }
  bool none() const { return found_ == 0; }
  std::vector<std::string> take() {
    if (found_ > listed_.size()) listed_.push_back(fmt::format("and {} more", found_ - listed_.size()));
    return std::move(listed_);
  }

 private:
  std::vector<std::string> listed_;
  std::size_t found_ = 0;
};

std::string_view word(PassKind kind) {
  switch (kind) {
    case PassKind::forward:
      return "forward";
    case PassKind::backward:
      return "backward";
    case PassKind::weight:
      return "weight gradient";
  }
  return "";
}

std::string describe(Shape shape, std::uint32_t stage, Pass pass) {
  std::string text = fmt::format("{} of micro-batch {}", word(pass.kind), index(pass.micro_batch));
  if (shape.virtual_stages > 1 || pass.virtual_stage > 0) text += fmt::format(", virtual stage {}", pass.virtual_stage);
  return text + fmt::format(", on stage {}", stage);
}

/// Which of a stage's passes have been seen: slot = (virtual stage, micro-batch, kind).
class Seen {
 public:
  explicit Seen(Shape shape)
      : micro_batches_(shape.micro_batches), done_(kPassKinds * shape.micro_batches * shape.virtual_stages) {}
  bool test(Pass pass) const { return done_[slot(pass)]; }
  void set(Pass pass) { done_[slot(pass)] = true; }

 private:
  std::size_t slot(Pass pass) const {
    return kPassKinds * (std::size_t{pass.virtual_stage} * micro_batches_ + index(pass.micro_batch)) +
           static_cast<std::size_t>(pass.kind);
  }
  std::size_t micro_batches_;
  std::vector<bool> done_;
};

/// Each pass once, backward after forward, the weights' gradients after it. Returns the most in flight.
std::uint32_t check_stage(Shape shape, std::uint32_t stage, const StageOrder& order, Problems& problems) {
  Seen seen(shape);
  std::uint32_t in_flight = 0, most = 0;
  for (const Pass& pass : order) {
    if (index(pass.micro_batch) >= shape.micro_batches) {
      problems.add(
          fmt::format("{}: no such micro-batch, there are {}", describe(shape, stage, pass), shape.micro_batches));
      continue;
    }
    if (pass.virtual_stage >= shape.virtual_stages) {
      problems.add(fmt::format("{}: no such virtual stage, each stage has {}", describe(shape, stage, pass),
                               shape.virtual_stages));
      continue;
    }
    if (pass.kind == PassKind::weight && !shape.splits_backward) {
      problems.add(fmt::format("{}: backward is whole in this schedule", describe(shape, stage, pass)));
      continue;
    }
    if (seen.test(pass)) {
      problems.add(fmt::format("{}: more than once", describe(shape, stage, pass)));
      continue;
    }
    seen.set(pass);
    if (pass.kind == PassKind::forward) {
      most = std::max(most, ++in_flight);
      continue;
    }
    const PassKind before = pass.kind == PassKind::weight ? PassKind::backward : PassKind::forward;
    if (!seen.test({before, pass.micro_batch, pass.virtual_stage})) {
      problems.add(fmt::format("{}: before its {}", describe(shape, stage, pass), word(before)));
    } else if (pass.kind == last_pass(shape)) {
      // A forward that comes after its backward never ends in flight: that problem is already named.
      --in_flight;
    }
  }
  for (std::uint32_t v = 0; v < shape.virtual_stages; ++v) {
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m) {
      for (PassKind kind : {PassKind::forward, PassKind::backward, PassKind::weight}) {
        if (kind == PassKind::weight && !shape.splits_backward) continue;
        const Pass pass{kind, MicroBatchId{m}, v};
        if (!seen.test(pass)) problems.add(fmt::format("{}: missing", describe(shape, stage, pass)));
      }
    }
  }
  return most;
}

struct Where {
  std::uint32_t stage = 0;
  Pass pass;
};

/// The pass of another model chunk that must end first; none for the first forward and for the last chunk's backward,
/// which waits for its own forward and is checked by check_stage.
std::optional<Where> waits_for(Shape shape, Where at) {
  const std::uint32_t last = shape.stages - 1;
  Where before = at;
  if (at.pass.kind == PassKind::weight) return std::nullopt;  // its own stage's backward, which check_stage looks at
  if (at.pass.kind == PassKind::forward) {
    if (at.stage == 0 && at.pass.virtual_stage == 0) return std::nullopt;
    before.stage = at.stage == 0 ? last : at.stage - 1;
    if (at.stage == 0) --before.pass.virtual_stage;
  } else {
    if (at.stage == last && at.pass.virtual_stage == shape.virtual_stages - 1) return std::nullopt;
    before.stage = at.stage == last ? 0 : at.stage + 1;
    if (at.stage == last) ++before.pass.virtual_stage;
  }
  return before;
}

/// Runs every stage as far as it gets; what is left waits for ever. A pass wakes only the stage after it, so the
/// work is O(passes).
void check_deadlock(Shape shape, std::span<const StageOrder> orders, Problems& problems) {
  std::vector<Seen> done(shape.stages, Seen(shape));
  std::vector<std::size_t> next(shape.stages, 0);
  std::vector<bool> queued(shape.stages, true);
  std::vector<std::uint32_t> awake;
  for (std::uint32_t s = shape.stages; s > 0; --s) awake.push_back(s - 1);
  while (!awake.empty()) {
    const std::uint32_t s = awake.back();
    awake.pop_back();
    queued[s] = false;
    const auto wake = [&](std::uint32_t other) {
      if (queued[other]) return;
      queued[other] = true;
      awake.push_back(other);
    };
    for (; next[s] < orders[s].size(); ++next[s]) {
      const Pass pass = orders[s][next[s]];
      const std::optional<Where> before = waits_for(shape, {s, pass});
      if (before && !done[before->stage].test(before->pass)) break;
      done[s].set(pass);
      if (pass.kind == PassKind::forward) {
        wake(s == shape.stages - 1 ? 0 : s + 1);
      } else if (pass.kind == PassKind::backward) {
        wake(s == 0 ? shape.stages - 1 : s - 1);
      }
    }
  }
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    if (next[s] == orders[s].size()) continue;
    const Pass pass = orders[s][next[s]];
    const Where before = *waits_for(shape, {s, pass});
    problems.add(fmt::format("{}: deadlock, it waits for ever for {}", describe(shape, s, pass),
                             describe(shape, before.stage, before.pass)));
  }
}

}  // namespace

Validation validate(Shape shape, std::span<const StageOrder> orders) {
  Validation result;
  Problems problems;
  if (orders.size() != shape.stages) {
    problems.add(fmt::format("the pipeline has {} stages, the order has {}", shape.stages, orders.size()));
  }
  for (std::uint32_t s = 0; s < std::min<std::size_t>(shape.stages, orders.size()); ++s) {
    result.most_in_flight.push_back(check_stage(shape, s, orders[s], problems));
  }
  if (problems.none()) check_deadlock(shape, orders, problems);
  result.problems = problems.take();
  return result;
}

}  // namespace stepcast::schedules
