#include "app/asked.h"
#include "app/command.h"
#include "app/launch_text.h"
#include "app/output.h"
#include "language/configs/config_folders.h"
#include "language/core/streams.h"
#include "language/frameworks/frameworks.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine emit_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("to", po::value<std::string>()->default_value("", ""),
                        (language::framework_names() + ": the framework").c_str())(
      "set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
      "KEY=VALUE laid over the scenario; may be repeated")(
      "profile", po::value<std::string>()->default_value("", ""),
      "a calibration's output laid over the scenario, as --set profile=FILE")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file; -: standard output");
  return {
      .usage =
          "usage: stepcast emit SCENARIO.yaml --to FRAMEWORK [OPTIONS]\n\n"
          "Writes what starts a scenario's plan: flags of Megatron-LM in a bash script, a configuration of "
          "DeepSpeed (JSON),\n"
          "torchtitan (TOML), nanotron, NeMo or Megatron Bridge (YAML), or arguments of Hugging Face's Trainer with "
          "DeepSpeed's\n"
          "file or FSDP. Comments say what each line stands for, how to launch it, and what you have to fill in.\n"
          "docs/launch-lines.md says more; stepcast import goes the other way.\n\n"
          "  stepcast emit scenarios/quickstart.yaml --to megatron --output train.sh\n"
          "  stepcast emit scenarios/llama3-70b-64-h100.yaml --to megatron-bridge\n\n"
          "Exit status 2: the framework has nothing for a key of the plan; the message names it.",
      .options = options,
      .formats = {},
      .sets_scenarios = true};
}

std::optional<Asked> read_emit_words(const std::vector<std::string>& words) {
  const auto values = parse_options(words, emit_line());
  if (!values) return std::nullopt;
  return Asked{*values,
               (*values)["path"].as<std::vector<std::string>>(),
               (*values)["set"].as<std::vector<std::string>>(),
               Format::table,
               word(*values, "output"),
               0};
}

int emit_plan(const std::vector<std::string>& words) {
  const auto asked = read_emit_words(words);
  if (!asked) return kDone;
  if (asked->paths.size() != 1)
    throw InputError("stepcast emit", asked->paths.empty() ? "no scenario given; try scenarios/quickstart.yaml"
                                                           : "found " + std::to_string(asked->paths.size()) +
                                                                 " scenarios, expected one");
  const std::string name = word(asked->values, "to");
  if (name.empty()) throw InputError("--to", "missing, expected a framework: " + language::framework_names());
  const language::Framework& framework = language::framework_named(name, "--to");
  auto questions = questions_asked(*asked, {});
  if (!questions) return kBadInput;
  if (questions->size() != 1)
    throw InputError("stepcast emit", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  const language::Question& question = questions->front();
  if (!question.error.empty()) throw InputError("", question.error);
  if (question.of_table || language::is_stream(question.file))
    throw InputError("stepcast emit",
                     "found a table or a stream, expected a scenario file (.yaml), which is read twice");
  std::vector<std::vector<std::string>> layers{asked->settings};
  if (const auto profile = word(asked->values, "profile"); !profile.empty())
    layers.front().push_back("profile=" + profile);
  language::Library library(language::config_folders());
  write_output(asked->output, launch_text(framework, question.scenario, asked->paths.front(), layers, library));
  return kDone;
}

}  // namespace

extern const Command emit_command;
constinit const Command emit_command{"emit", "the flags or the file that start a plan with a framework", emit_line,
                                     emit_plan};

}  // namespace stepcast::app
