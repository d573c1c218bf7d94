#pragma once

#include <span>
#include <vector>

#include "app/report/answer.h"
#include "calibrate/confidence/band.h"
#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast::app {

struct AnswerOptions {
  schedules::ForecastOptions forecast{};
  /// Rows of tables that say nothing of a measured step are simulated only where they may fit, whatever `forecast`
  /// says.
  bool rows_that_may_fit = false;
  unsigned threads = 0;  ///< that forecast at the same time; 0: as many as the machine has
};

/// Forecasts every question that can run. Answers stand in the order of the questions and do not depend on the threads.
/// Shows how far it is on stderr, if that is a terminal.
std::vector<Answer> answer(std::vector<language::Question> questions, const AnswerOptions& options);

/// Forecasts one question that can run; why it cannot, all the same, is its error. False where memory ran out, which
/// forecasts at the same time may have taken. `machines`: shared with others, from any thread. Throws only for a
/// question that does not stand among others.
bool answer_one(Answer& answer, workload::Machines& machines, const schedules::ForecastOptions& options);

/// Gives each forecast its band, made from all measured rows but those of the run itself.
void add_bands(std::vector<Answer>& answers, std::span<const calibrate::Residual> measured);

}  // namespace stepcast::app
