#include "app/validate.h"

#include "app/asked.h"
#include "app/command.h"
#include "app/report/comparison.h"
#include "app/report/json.h"
#include "sim/input_error.h"

namespace stepcast::app {

int validate(const std::vector<std::string>& words) {
  auto asked =
      parse_asked(words,
                  "usage: stepcast validate [SCENARIO.yaml|TABLE.csv|FOLDER...] [OPTIONS]\n\n"
                  "Puts predicted beside measured for every scenario with a `measured:` block; without a path, for\n"
                  "scenarios/published. error = predicted / measured - 1.",
                  {});
  if (!asked) return kDone;
  if (asked->paths.empty())
    asked->paths.push_back((configs_directory().parent_path() / "scenarios/published").string());

  auto questions = questions_asked(*asked);
  if (!questions) return kBadInput;
  const std::vector<Answer> answers = answer(std::move(*questions), {}, asked->threads);
  const Comparison comparison = compare(answers);
  if (comparison.rows.empty()) throw InputError(asked->paths.front(), "no scenario there has a `measured:` block");
  write_output(asked->output, asked->format == Format::json  ? validate_json(comparison)
                              : asked->format == Format::csv ? validate_csv(comparison)
                                                             : validate_table(comparison));
  return kDone;
}

}  // namespace stepcast::app
