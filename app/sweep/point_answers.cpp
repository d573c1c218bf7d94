#include "app/sweep/point_answers.h"

#include <mutex>
#include <new>
#include <utility>

#include "app/answers.h"

namespace stepcast::app {

PointAnswers::PointAnswers(const language::Variants& base, const PointsAsked& asked, unsigned threads)
    : asked_(asked), variants_(threads, base) {
  for (const Condition& condition : asked_.conditions) needs_.push_back(asked_.names.needs(condition));
}

bool PointAnswers::holds(SweepNames::Needs needs, const KnownPoint& point) const {
  for (std::size_t i = 0; i < needs_.size(); ++i)
    if (needs_[i] == needs && !asked_.names.holds(asked_.conditions[i], point)) return false;
  return true;
}

std::optional<SweepRow> PointAnswers::row(unsigned thread, std::size_t point) {
  using Needs = SweepNames::Needs;
  const std::vector<std::size_t> values = asked_.grid.values(point);
  KnownPoint known{values, nullptr, nullptr};
  if (!holds(Needs::axes, known)) return std::nullopt;
  Answer answer{variants_[thread].with(asked_.grid.keys(point)), std::nullopt, {}};
  known.question = &answer.question;
  if (!holds(Needs::scenario, known)) return std::nullopt;
  forecast(answer);
  if (answer.question.internal_error) some_failed_ = true;
  known.answer = &answer;
  if (!holds(Needs::answer, known)) return std::nullopt;
  return asked_.columns.row(asked_.grid, point, answer);
}

void PointAnswers::forecast(Answer& answer) {
  {
    const std::shared_lock beside_others(memory_);
    if (answer_one(answer, machines_, asked_.forecast)) return;
  }
  const std::unique_lock alone(memory_);
  try {
    workload::Machines own;  // what others have remembered takes memory too
    if (!answer_one(answer, own, asked_.forecast)) throw std::bad_alloc();
  } catch (...) {
    language::keep_error(answer.question);
    some_failed_ = true;
  }
}

}  // namespace stepcast::app
