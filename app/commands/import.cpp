#include <algorithm>
#include <fstream>
#include <span>

#include "app/candidates.h"
#include "app/command.h"
#include "app/import_site.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/status_line.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/streams.h"
#include "language/frameworks/configuration.h"
#include "language/frameworks/frameworks.h"
#include "language/question.h"
#include "language/scenario.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

CommandLine import_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
                        "KEY=VALUE laid over what is read, as the machines; may be repeated")(
      "ignore", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
      "a flag, or a name of a file, that is passed over, whatever it changes; may be repeated")(
      "env", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
      "NAME=VALUE that a script finds in its environment; NAME=: empty; may be repeated")(
      "output", po::value<std::string>()->default_value("", ""), "write to this file; -: standard output");
  add_site_options(options);
  return {
      .usage =
          "usage: stepcast import FRAMEWORK FILE|FLAGS [OPTIONS] [-- ARGUMENT...]\n"
          "       stepcast import slurm|topograph|ibnetdiscover|iblinkinfo FILE --node NAME [OPTIONS]\n\n"
          "Makes a scenario of what starts a training: a shell script or the flags of Megatron-LM, a "
          "configuration of\n"
          "DeepSpeed (JSON), torchtitan (TOML), nanotron, NeMo or Megatron Bridge (YAML, or Hydra's words "
          "path=value), or the\n"
          "arguments of Hugging Face's Trainer with the files that they name. A comment on each line says where it "
          "came from, or\n"
          "that it had to be assumed. FRAMEWORK: " +
          language::framework_names() +
          ".\n"
          "Flags in one word are read as they are; they may stand behind --. Behind a script and -- stand its "
          "arguments, "
          "$1\nand those that follow. What starts a training does not say which machines: "
          "--set cluster.node=NAME.\n\n"
          "  stepcast import megatron pretrain.sh --set cluster.node=dgx-h100 --output gpt3.yaml\n"
          "  stepcast import megatron --set cluster.node=dgx-h100 -- '--num-layers 32 --hidden-size 4096 ...'\n"
          "  stepcast import megatron train.sh --set cluster.node=dgx-a800 --ignore multiple-of\n"
          "  stepcast import megatron train.sh --set cluster.node=dgx-a800 --env WANDB_API_KEY= -- /data 8 1\n"
          "  stepcast import torchtitan llama3_70b.toml --set cluster.node=dgx-h100 --set cluster.gpus=256\n"
          "  stepcast import hf-trainer finetune.sh --set cluster.node=dgx-a100-80gb --set model=llama2-7b\n"
          "  stepcast import nemo gpt3_175b.yaml --set cluster.node=dgx-h100 --set model.vocab=50257\n\n"
          "docs/launch-lines.md says more; stepcast emit goes the other way.\n\n"
          "Of what knows a site's network it makes a cluster file: switches, cables, the nodes on them, and which of "
          "them a\njob has (docs/clusters.md). FILE is Slurm's topology.conf or topology.yaml, JSON of 'kubectl get "
          "nodes' with\nthe labels of topograph, or what ibnetdiscover or iblinkinfo printed.\n\n"
          "  stepcast import slurm topology.conf --node dgx-h100 --nodelist 'gpu[001-064]' --output cluster.yaml\n"
          "  stepcast import ibnetdiscover fabric.txt --node dgx-h100 --hcas 'mlx5_[0,3-6,9-11]' --output "
          "cluster.yaml",
      .options = options,
      .formats = {},
      .sets_scenarios = true,
      .takes_empty = true};
}

std::string names_of_site_programs() {
  std::string all;
  for (const std::string& name : site_programs()) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// "--ignore --flag" in one word, as "--ignore=--flag": else the flag would be read as an option.
std::vector<std::string> with_ignored_joined(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  const auto end = std::ranges::find(words, "--");
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word < end && word + 1 < end && *word == "--ignore" && word[1].starts_with("--")) {
      out.push_back(*word + "=" + word[1]);
      ++word;
    } else {
      out.push_back(*word);
    }
  }
  return out;
}

/// Whether a word is a command line, not the name of a file.
bool is_command_line(const std::string& word) {
  if (word.find(" --") != word.npos || word.starts_with("--")) return true;
  std::error_code error;
  return word.find('=') != word.npos && !std::filesystem::exists(word, error);  // words of Hydra
}

Candidates framework_names(const std::string&) {
  std::vector<std::string> names;
  for (const language::Framework* framework : language::frameworks()) names.emplace_back(framework->name);
  for (const std::string& program : site_programs()) names.push_back(program);
  return plain_candidates(names);
}

/// How many of the positional words stand in front of a script's arguments: those before "--", at least the framework
/// and the file. Throws InputError for an empty one.
std::size_t words_before_arguments(const std::vector<std::string>& words, const std::vector<std::string>& paths) {
  const auto behind = static_cast<std::size_t>(words.end() - std::ranges::find(words, "--"));
  const std::size_t arguments = behind == 0 ? 0 : behind - 1;
  const std::size_t before = std::min(std::max(paths.size() - arguments, std::size_t{2}), paths.size());
  refuse_empty_words(std::span(paths).first(before), "stepcast import");
  return before;
}

/// What is missing, a setting says.
std::string with_remedy(std::string complaint) {
  if (complaint.find(": missing, ") != std::string::npos)
    complaint += "; --set KEY=VALUE gives what the configuration does not say";
  return complaint;
}

int import_plan(const std::vector<std::string>& words) {
  const auto values = parse_options(with_ignored_joined(words), import_line());
  if (!values) return kDone;
  const auto paths = (*values)["path"].as<std::vector<std::string>>();
  const std::size_t before = words_before_arguments(words, paths);
  const std::vector<std::string> programs = site_programs();
  if (paths.empty())
    throw InputError("stepcast import", "no framework given, expected " + language::framework_names() +
                                            ", or what knows a site's network: " + names_of_site_programs());
  if (std::ranges::find(programs, paths.front()) != programs.end()) {
    import_site(*values);
    return kDone;
  }
  for (const char* const option : site_options()) refuse_with(*values, "a framework", {option});
  const language::Framework& framework = language::framework_named(paths.front(), "stepcast import");
  if (before != 2)
    throw InputError("stepcast import", before == 1 ? "no configuration given, expected a file or flags in one word"
                                                    : "found " + std::to_string(before - 1) +
                                                          " configurations, expected one file, or flags in one word; "
                                                          "arguments of a script stand behind --");
  const std::string& source = paths[1];
  const std::string output = word(*values, "output");
  std::string text = source, file = "the command line";
  if (!is_command_line(source)) {
    const std::filesystem::path path = language::input_named(source);
    check_outputs(std::vector<NamedFile>{named_output(output)}, std::vector<std::filesystem::path>{path});
    file = language::shown_path(path);
    text = language::read_file(path, file);
  }
  std::optional<StatusLine> line("importing");
  language::Library library(language::config_folders());
  const language::ImportOptions options{
      .ignored = (*values)["ignore"].as<std::vector<std::string>>(),
      .start = {.arguments = {paths.begin() + 2, paths.end()},
                .environment = language::environment_of((*values)["env"].as<std::vector<std::string>>())}};
  const language::ImportedScenario imported =
      language::scenario_of_configuration(framework, text, file, (*values)["set"].as<std::vector<std::string>>(),
                                          library, std::filesystem::path(output).parent_path(), options);
  // What it lacks or contradicts is said now, where it was read.
  language::Question question;
  question.origin = file;
  try {
    language::fill(question, imported.tree, library);
  } catch (const InputError& complaint) {
    throw InputError("", with_remedy(complaint.what()));
  }
  if (!question.error.empty()) throw InputError("", with_remedy(question.error));
  line.reset();
  write_output(output, imported.text);
  return kDone;
}

}  // namespace

extern const Command import_command;
constinit const Command import_command{.name = "import",
                                       .summary = "a scenario of what starts a training with a framework",
                                       .line = import_line,
                                       .run = import_plan,
                                       .words = framework_names};

}  // namespace stepcast::app
