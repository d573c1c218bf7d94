#include "app/validate.h"

#include <cstdio>

#include "app/answers.h"
#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "app/report/comparison.h"
#include "app/report/json.h"
#include "sim/input_error.h"

namespace stepcast::app {

int validate(const std::vector<std::string>& words) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE laid over every scenario; may be repeated")
      ("format", po::value<std::string>()->default_value("table"), "table, json or csv")
      ("output", po::value<std::string>()->default_value("", ""), "write to this file instead of standard output")
      ("threads", po::value<unsigned>()->default_value(0, "all"), "scenarios forecast at the same time");
  // clang-format on
  const auto values =
      parse_options(words,
                    "usage: stepcast validate [SCENARIO.yaml|TABLE.csv|FOLDER...] [OPTIONS]\n\n"
                    "Puts predicted beside measured for every scenario with a `measured:` block; without a path, for\n"
                    "scenarios/published. error = predicted / measured - 1.",
                    options);
  if (!values) return kDone;
  auto paths = (*values)["path"].as<std::vector<std::string>>();
  if (paths.empty()) paths.push_back((configs_directory().parent_path() / "scenarios/published").string());
  const Format format = parse_format((*values)["format"].as<std::string>());

  Library library(configs_directory());
  std::vector<Question> questions = read_questions(paths, (*values)["set"].as<std::vector<std::string>>(), library);
  bool bad_file = false;
  for (const Question& q : questions)
    if (!q.from_table && !q.error.empty()) {
      std::fprintf(stderr, "%s\n", q.error.c_str());
      bad_file = true;
    }
  if (bad_file) return kBadInput;

  const std::vector<Answer> answers = answer(std::move(questions), {}, (*values)["threads"].as<unsigned>());
  const Comparison comparison = compare(answers);
  if (comparison.rows.empty()) throw InputError(paths.front(), "no scenario there has a `measured:` block");
  write_output((*values)["output"].as<std::string>(), format == Format::json  ? validate_json(comparison)
                                                      : format == Format::csv ? validate_csv(comparison)
                                                                              : validate_table(comparison));
  return kDone;
}

}  // namespace stepcast::app
