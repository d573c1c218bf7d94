#include "app/report/run_part.h"

#include "app/report/json.h"
#include "app/report/step_detail_json.h"

namespace stepcast::app {

PagePart run_part(std::span<const Answer> answers) {
  PagePart part{.kind = "run", .title = answers.front().question.name, .document = run_json(answers)};
  if (answers.size() > 1) part.title = std::to_string(answers.size()) + " scenarios";
  if (answers.size() == 1 && answers.front().forecast && answers.front().forecast->detail)
    part.detail = step_detail_json(*answers.front().forecast, answers.front().question.scenario);
  return part;
}

}  // namespace stepcast::app
