#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "language/question.h"

namespace stepcast::app {

/// One key of the parallel plan that a forecast is of, or a number that follows from the plan.
struct PlanPart {
  std::string_view key;  ///< of the scenario; "micro_batches" is no key
  std::variant<std::int64_t, bool, std::string> value;
  std::string words;        ///< "pipeline 8"; empty: it goes without saying, as one virtual stage does
  bool by_default = false;  ///< nobody said it
};

/// The plan of a question that can run: every one of language::kPlanKeys, and the micro-batches of a step.
std::vector<PlanPart> simulated_plan(const language::Question& question);

/// The words of the parts that somebody said, or of those that nobody did: "tensor 4, pipeline 8".
std::string plan_words(const std::vector<PlanPart>& plan, bool by_default);

}  // namespace stepcast::app
