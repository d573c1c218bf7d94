#pragma once

#include <optional>
#include <string>

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

/// "try --set recompute=full, or --set offload.optimizer=host", or that nothing helps and what comes nearest.
std::string advice_text(const schedules::OutOfMemory& over);

/// "out of memory: needs 93.1 GiB of 80.0 GiB on stage 0; largest: activations 51.2 GiB; try --set recompute=full"
std::string memory_message(const schedules::OutOfMemory& over);

}  // namespace stepcast::app
