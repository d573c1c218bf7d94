#include "app/answers.h"

#include <new>
#include <stdexcept>

#include "app/progress.h"
#include "app/status_line.h"
#include "app/transfer_progress.h"
#include "calibrate/in_parallel.h"
#include "language/core/visible_text.h"
#include "schedules/notes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// What says how far forecasts are: by their transfers where these are simulated, else by how many are done, of which
/// one alone says nothing.
struct ForecastProgress {
  std::optional<TransferProgress> transfers;
  std::optional<Progress> forecasts;
  std::optional<StatusLine> one;

  ForecastProgress(std::size_t all, bool of_transfers) {
    if (of_transfers)
      transfers.emplace();
    else if (all == 1)
      one.emplace("forecasting");
    else
      forecasts.emplace(all);
  }
};

/// False where memory ran out, which the other forecasts at the same time may have taken.
bool forecast(Answer& answer, workload::Machines& machines, const AnswerOptions& options, ForecastProgress& progress) {
  schedules::ForecastOptions own = options.forecast;
  workload::WatchLowered watch;
  if (progress.transfers) watch = progress.transfers->watch();
  own.watch = watch ? &watch : nullptr;
  const schedules::Measured& measured = answer.question.scenario.measured;
  if (measured.outcome == schedules::RunOutcome::failed ||
      (options.rows_that_may_fit && answer.question.of_table && !measured.step_time))
    own.simulate = schedules::Simulate::what_may_fit;
  return answer_one(answer, machines, own);
}

/// With the memory of all the computer; where that is too little, the question's error says so.
void forecast_alone(Answer& answer, const AnswerOptions& options) {
  ForecastProgress progress(1, options.forecast.transfers);
  try {
    workload::Machines own;  // what others have remembered takes memory too
    if (!forecast(answer, own, options, progress)) throw std::bad_alloc();
  } catch (...) {
    language::keep_error(answer.question);
  }
}

}  // namespace

bool answer_one(Answer& answer, workload::Machines& machines, const schedules::ForecastOptions& options) {
  if (!answer.question.error.empty()) return true;
  try {
    answer.forecast = schedules::forecast(answer.question.scenario, machines, options);
    for (schedules::Note& note : schedules::notes(*answer.forecast)) answer.question.notes.push_back(std::move(note));
  } catch (const InputError& e) {
    answer.question.error = language::visible(answer.question.origin + ": " + e.what());
  } catch (const std::overflow_error& e) {  // sizes and rates that are right each but absurd together
    answer.question.error = language::visible(answer.question.origin + ": the step would take too long: " + e.what());
  } catch (const std::bad_alloc&) {
    return false;
  } catch (...) {
    language::keep_error(answer.question);
  }
  return true;
}

std::vector<Answer> answer(std::vector<language::Question> questions, const AnswerOptions& options) {
  std::vector<Answer> answers;
  answers.reserve(questions.size());
  for (language::Question& question : questions) answers.push_back({std::move(question), std::nullopt, {}});
  std::vector<language::Question>().swap(questions);  // what is left of them is large, and the forecasts need memory
  if (answers.size() == 1) {
    forecast_alone(answers.front(), options);
    return answers;
  }
  const calibrate::MostThreads limit(options.threads);
  std::optional<ForecastProgress> progress(std::in_place, answers.size(), options.forecast.transfers);
  std::vector<char> again(answers.size(), false);
  std::optional<workload::Machines> machines(std::in_place);
  calibrate::in_parallel(answers.size(), [&](std::size_t i) {
    again[i] = !forecast(answers[i], *machines, options, *progress);
    if (progress->forecasts) progress->forecasts->one_done();
  });
  machines.reset();
  progress.reset();
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (again[i] != 0) forecast_alone(answers[i], options);
  return answers;
}

void add_bands(std::vector<Answer>& answers, std::span<const calibrate::Residual> measured) {
  for (Answer& a : answers)
    if (a.forecast && a.forecast->simulated)
      a.band = calibrate::band(calibrate::without(measured, a.question.table, a.question.name),
                               calibrate::traits(a.question.scenario), a.forecast->step);
}

}  // namespace stepcast::app
