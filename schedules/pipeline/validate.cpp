#include "schedules/pipeline/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "schedules/pipeline/in_flight.h"
#include "schedules/pipeline/placement.h"

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
    case PassKind::whole_backward:
      return "whole backward";
  }
  return "";
}

std::string describe(Shape shape, std::uint32_t stage, Pass pass) {
  std::string text = fmt::format("{} of micro-batch {}", word(pass.kind), index(pass.micro_batch));
  if (shape.virtual_stages > 1 || pass.virtual_stage > 0) text += fmt::format(", virtual stage {}", pass.virtual_stage);
  return text + fmt::format(", on stage {}", stage);
}

constexpr std::size_t kParts = 3;  // forward, backward, weight: a whole backward is the last two

/// Which parts of a stage's visits have been seen: slot = (virtual stage, micro-batch, part).
class Seen {
 public:
  explicit Seen(Shape shape)
      : micro_batches_(shape.micro_batches), done_(kParts * shape.micro_batches * shape.virtual_stages) {}
  bool test(PassKind part, std::uint32_t micro_batch, std::uint32_t virtual_stage) const {
    return done_[slot(micro_batch, virtual_stage) + static_cast<std::size_t>(part)];
  }
  /// Whether the pass, or a part of it, has been there.
  bool test(Pass pass) const {
    const auto part = [&](PassKind kind) { return test(kind, index(pass.micro_batch), pass.virtual_stage); };
    return pass.kind == PassKind::whole_backward ? part(PassKind::backward) || part(PassKind::weight) : part(pass.kind);
  }
  void set(Pass pass) {
    const std::size_t at = slot(index(pass.micro_batch), pass.virtual_stage);
    if (pass.kind == PassKind::whole_backward)
      done_[at + static_cast<std::size_t>(PassKind::backward)] =
          done_[at + static_cast<std::size_t>(PassKind::weight)] = true;
    else
      done_[at + static_cast<std::size_t>(pass.kind)] = true;
  }

 private:
  std::size_t slot(std::uint32_t micro_batch, std::uint32_t virtual_stage) const {
    return kParts * (std::size_t{virtual_stage} * micro_batches_ + micro_batch);
  }
  std::size_t micro_batches_;
  std::vector<bool> done_;
};

/// What is wrong with a pass wherever it stands in its stage's order; "" if nothing.
std::string own_problem(Shape shape, const Pass& pass) {
  if (index(pass.micro_batch) >= shape.micro_batches)
    return fmt::format("no such micro-batch, there are {}", shape.micro_batches);
  if (pass.virtual_stage >= shape.virtual_stages)
    return fmt::format("no such virtual stage, each stage has {}", shape.virtual_stages);
  if (!visits(shape, pass.micro_batch, pass.virtual_stage))
    return "this micro-batch goes through the model's other copy";
  if (!shape.splits_backward && (pass.kind == PassKind::weight || pass.kind == PassKind::whole_backward))
    return "backward is whole in this schedule";
  return "";
}

/// The pass that must have run before on the same stage.
std::optional<PassKind> part_before(PassKind kind) {
  switch (kind) {
    case PassKind::forward:
      return std::nullopt;
    case PassKind::weight:
      return PassKind::backward;
    case PassKind::backward:
    case PassKind::whole_backward:
      return PassKind::forward;
  }
  return std::nullopt;
}

bool is_backward(PassKind kind) { return kind == PassKind::backward || kind == PassKind::whole_backward; }

void check_missing(Shape shape, std::uint32_t stage, const Seen& seen, Problems& problems) {
  const auto any = [&](std::uint32_t m, std::uint32_t v) {
    return seen.test(PassKind::forward, m, v) || seen.test({PassKind::whole_backward, MicroBatchId{m}, v});
  };
  const auto visited_by = [&](std::uint32_t v, std::uint32_t m) { return visits(shape, MicroBatchId{m}, v); };
  std::vector<bool> unheld(shape.virtual_stages, true), absent(shape.micro_batches, true);
  for (std::uint32_t v = 0; v < shape.virtual_stages; ++v)
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
      if (any(m, v)) unheld[v] = absent[m] = false;
  std::uint32_t run = 0;
  for (std::uint32_t m = 0; m < shape.micro_batches; ++m) run += !absent[m];
  for (std::uint32_t v = 0; v < shape.virtual_stages; ++v)
    if (unheld[v])
      problems.add(fmt::format("model chunk {} is held by no stage: stage {} runs no pass of virtual stage {}",
                               held(shape, {stage, v}).chunk, stage, v));
  for (std::uint32_t m = 0; m < shape.micro_batches && run > 0; ++m)
    if (absent[m])
      problems.add(fmt::format("stage {} runs {} of {} micro-batches: no pass of micro-batch {}", stage, run,
                               shape.micro_batches, m));
  for (std::uint32_t v = 0; v < shape.virtual_stages; ++v)
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
      for (const PassKind part : {PassKind::forward, PassKind::backward, PassKind::weight}) {
        if (unheld[v] || absent[m] || !visited_by(v, m) || seen.test(part, m, v)) continue;
        if (part == PassKind::weight && !shape.splits_backward) continue;
        problems.add(fmt::format("{}: missing", describe(shape, stage, {part, MicroBatchId{m}, v})));
      }
}

/// Each pass once, backward after forward, the weights' gradients after it. Returns the most in flight.
std::uint32_t check_stage(Shape shape, std::uint32_t stage, const StageOrder& order, std::optional<std::uint32_t> limit,
                          Problems& problems) {
  Seen seen(shape);
  InFlight in_flight(shape);
  bool over = false;
  const auto problem = [&](const Pass& pass, std::string_view text) {
    problems.add(fmt::format("{}: {}", describe(shape, stage, pass), text));
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Pass& pass = order[i];
    if (const std::string own = own_problem(shape, pass); !own.empty()) {
      problem(pass, own);
      continue;
    }
    if (seen.test(pass)) {
      problem(pass, "more than once");
      continue;
    }
    seen.set(pass);
    if (pass.with_next) {
      const Pass* next = i + 1 < order.size() ? &order[i + 1] : nullptr;
      const bool fits = pass.kind == PassKind::forward && next != nullptr && is_backward(next->kind) &&
                        (next->micro_batch != pass.micro_batch || next->virtual_stage != pass.virtual_stage);
      if (!fits) problem(pass, "only a forward and the backward of another visit can run together");
    }
    if (pass.kind == PassKind::forward) {
      in_flight.run(pass);
      if (limit && in_flight.now() > *limit && !over) {
        problem(pass, fmt::format("{} in flight, the limit is {}", in_flight.now(), *limit));
        over = true;
      }
      continue;
    }
    const PassKind before = *part_before(pass.kind);
    if (!seen.test(before, index(pass.micro_batch), pass.virtual_stage)) {
      problem(pass, fmt::format("before its {}", word(before)));
    } else {
      // A forward that comes after its backward never ends in flight: that problem is already named.
      in_flight.run(pass);
    }
  }
  check_missing(shape, stage, seen, problems);
  return in_flight.most();
}

/// Where the pass's input comes from: another model chunk. Nothing for the first forward, for the last chunk's
/// backward, which waits for its own forward, and for weights' gradients: check_stage looks at those.
std::optional<ChunkPlace> waits_for(Shape shape, std::uint32_t stage, const Pass& pass) {
  if (pass.kind == PassKind::weight) return std::nullopt;
  return next_place(shape, {stage, pass.virtual_stage}, is_backward(pass.kind));
}

/// Runs every stage as far as it gets; what is left waits for ever. A pass wakes only the stage after it, so the
/// work is O(passes).
void check_deadlock(Shape shape, std::span<const StageOrder> orders, Problems& problems) {
  std::vector<Seen> done(shape.stages, Seen(shape));
  std::vector<std::size_t> next(shape.stages, 0);
  std::vector<bool> queued(shape.stages, true);
  std::vector<std::uint32_t> awake;
  for (std::uint32_t s = shape.stages; s > 0; --s) awake.push_back(s - 1);
  const auto input_is_there = [&](std::uint32_t stage, const Pass& pass) {
    const std::optional<ChunkPlace> from = waits_for(shape, stage, pass);
    const PassKind part = pass.kind == PassKind::forward ? PassKind::forward : PassKind::backward;
    return !from || done[from->stage].test(part, index(pass.micro_batch), from->virtual_stage);
  };
  while (!awake.empty()) {
    const std::uint32_t s = awake.back();
    awake.pop_back();
    queued[s] = false;
    while (next[s] < orders[s].size()) {
      const std::size_t together = orders[s][next[s]].with_next ? 2 : 1;
      const std::span<const Pass> passes(&orders[s][next[s]], together);
      if (!std::ranges::all_of(passes, [&](const Pass& pass) { return input_is_there(s, pass); })) break;
      for (const Pass& pass : passes) {
        done[s].set(pass);
        if (pass.kind == PassKind::weight) continue;
        const std::optional<ChunkPlace> to = next_place(shape, {s, pass.virtual_stage}, pass.kind == PassKind::forward);
        if (!to || queued[to->stage]) continue;
        queued[to->stage] = true;
        awake.push_back(to->stage);
      }
      next[s] += together;
    }
  }
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    if (next[s] == orders[s].size()) continue;
    Pass pass = orders[s][next[s]];
    if (input_is_there(s, pass)) pass = orders[s][next[s] + 1];  // it is the one beside it that waits
    const ChunkPlace from = *waits_for(shape, s, pass);
    const Pass before{is_backward(pass.kind) ? PassKind::backward : pass.kind, pass.micro_batch, from.virtual_stage};
    problems.add(fmt::format("{}: deadlock, it waits for ever for {}", describe(shape, s, pass),
                             describe(shape, from.stage, before)));
  }
}

}  // namespace

Validation validate(Shape shape, std::span<const StageOrder> orders, std::optional<std::uint32_t> limit) {
  Validation result;
  Problems problems;
  if (orders.size() != shape.stages) {
    problems.add(fmt::format("the pipeline has {} stages, the order has {}", shape.stages, orders.size()));
  }
  for (std::uint32_t s = 0; s < std::min<std::size_t>(shape.stages, orders.size()); ++s) {
    result.most_in_flight.push_back(check_stage(shape, s, orders[s], limit, problems));
  }
  if (problems.none()) check_deadlock(shape, orders, problems);
  result.problems = problems.take();
  return result;
}

}  // namespace stepcast::schedules
