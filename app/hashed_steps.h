#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/answers.h"
#include "app/report/spread.h"

namespace stepcast::app {

/// A scenario's step over many hashings of its fabric.
struct HashedSteps {
  language::Question question;
  std::optional<HashingSpread> seconds;  ///< nothing: question.error says why
  bool fits = true;                      ///< in the GPUs' memory, which no hashing changes
};

/// Forecasts each question with `seeds` hashings, its own and those that follow. A question that cannot run has an
/// error if it stands among others, and else throws InputError, as one does whose fabric hashes nothing.
std::vector<HashedSteps> steps_over_hashings(std::vector<language::Question> questions, std::uint32_t seeds,
                                             const AnswerOptions& options);

std::string hashed_steps_table(const std::vector<HashedSteps>& all, std::uint32_t seeds);
std::string hashed_steps_json(const std::vector<HashedSteps>& all, std::uint32_t seeds);
std::string hashed_steps_csv(const std::vector<HashedSteps>& all, std::uint32_t seeds);

}  // namespace stepcast::app
