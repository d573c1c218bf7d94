#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/confidence/band.h"
#include "language/questions.h"
#include "schedules/forecast.h"

namespace stepcast::app {

/// A question with its forecast, or why there is none.
struct Answer {
  language::Question question;
  std::optional<schedules::Forecast> forecast;  ///< nothing: question.error says why
  std::optional<calibrate::Band> band{};        ///< nothing: no measured rows to make it from
};

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

/// Gives each forecast its band, made from all measured rows but those of the run itself.
void add_bands(std::vector<Answer>& answers, std::span<const calibrate::Residual> measured);

/// "try --set recompute=full, or --set offload.optimizer=host", or that nothing helps and what comes nearest.
std::string advice_text(const schedules::OutOfMemory& over);

/// "out of memory: needs 93.1 GiB of 80.0 GiB on stage 0; largest: activations 51.2 GiB; try --set recompute=full"
std::string memory_message(const schedules::OutOfMemory& over);

}  // namespace stepcast::app
