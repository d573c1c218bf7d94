#include "app/commands/complete.h"

#include <algorithm>

#include "app/catalogue.h"
#include "app/command.h"
#include "app/commands/completion.h"
#include "app/commands/keys.h"
#include "app/options.h"
#include "app/output.h"
#include "collectives/operation.h"
#include "language/configs/config_folders.h"
#include "language/scenario.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Candidates = std::vector<Candidate>;

Candidates plain(const std::vector<std::string>& words) {
  Candidates all;
  for (const std::string& word : words) all.push_back({word, {}});
  return all;
}

/// Names of some kinds of the catalogue.
Candidates named(const std::vector<std::string>& kinds) {
  const language::Library library(language::config_folders());
  Candidates all;
  for (const CatalogueKind& kind : catalogue()) {
    if (std::ranges::find(kinds, kind.name) == kinds.end()) continue;
    for (const std::string& name : kind.names(library)) all.push_back({name, std::string(kind.name)});
  }
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const CatalogueKind& kind : catalogue()) names.emplace_back(kind.name);
  return names;
}

/// "gpus/h100-sxm5-80gb", for a word with a slash.
Candidates names_of_kinds() {
  Candidates all;
  for (const std::string& kind : kind_names())
    for (const Candidate& name : named({kind})) all.push_back({kind + "/" + name.word, {}});
  return all;
}

Candidates command_names() {
  Candidates all;
  for (const Command* command : commands())
    if (!command->hidden) all.push_back({std::string(command->name), std::string(command->summary)});
  return all;
}

/// Paths up to the first dot behind what is typed: 'par' gives 'parallelism.', that gives 'parallelism.tensor'. `end`
/// stands behind a whole path.
Candidates next_level(const std::vector<std::string>& paths, const std::string& typed, const std::string& end) {
  Candidates all;
  for (const std::string& path : paths) {
    if (!path.starts_with(typed)) continue;
    const std::size_t dot = path.find('.', typed.size());
    const bool whole = dot == std::string::npos;
    const language::KeyInfo* key = whole ? language::find_key(language::scenario_schema(), path) : nullptr;
    Candidate next{whole ? path + end : path.substr(0, dot + 1), key == nullptr ? "" : std::string(key->help)};
    if (std::ranges::find(all, next.word, &Candidate::word) == all.end()) all.push_back(std::move(next));
  }
  return all;
}

/// Keys of --set: a scenario's, or of commands that have none those of its cluster and software.
std::vector<std::string> settable(bool scenario) {
  const std::string_view transport = "software.transport.";
  std::vector<std::string> paths;
  for (const std::string& path : language::all_paths(language::scenario_schema())) {
    if (scenario || path.starts_with("cluster") || path.starts_with("software")) paths.push_back(path);
    if (!scenario && path.starts_with(transport)) paths.push_back(path.substr(transport.find('.') + 1));
  }
  return paths;
}

/// KEY= or KEY=VALUE.
Candidates settings(const std::string& typed, bool scenario) {
  const std::size_t equals = typed.find('=');
  if (equals == std::string::npos) return next_level(settable(scenario), typed, "=");
  std::string path = typed.substr(0, equals);
  if (!scenario && path.starts_with("transport.")) path = "software." + path;
  const language::KeyInfo* key = language::find_key(language::scenario_schema(), path);
  if (key == nullptr) return {};
  Candidates values;
  if (key->type.kind == language::Type::Kind::choice)
    for (const std::string_view name : key->type.names()) values.push_back({std::string(name), {}});
  if (key->type.kind == language::Type::Kind::flag) values = plain({"true", "false"});
  if (key->type.kind == language::Type::Kind::block) values = named({std::string(key->type.fields().folder)});
  for (Candidate& value : values) value.word = typed.substr(0, equals + 1) + value.word;
  return values;
}

/// What can stand behind an option; nothing where it is a number, a text or a file.
Candidates values_of(std::string_view command, std::string_view option, const std::string& typed) {
  const bool scenario = command == "run" || command == "validate";
  if (option == "set") return settings(typed, scenario);
  if (option == "node") return named({"nodes"});
  if (option == "cluster") return named({"clusters"});
  if (option == "gpu") return named({"gpus"});
  if (option == "software") return named({"software"});
  if (option == "fabric") return named({"fabrics"});
  if (option == "nvlink" || option == "pcie" || option == "socket-link") return named({"links"});
  if (option == "profile") return named({"profiles"});
  if (option == "protocol") return plain({"Simple", "LL128", "LL"});
  if (option == "format") {
    if (command == "keys") return plain({"table", "json", "markdown"});
    if (command == "show") return plain({"table", "json"});
    if (command == "fit") return plain({"yaml", "json"});
    return plain({"table", "json", "csv"});
  }
  Candidates all;
  if (option == "op")
    for (const collectives::Operation each : collectives::kOperations)
      all.push_back({std::string(collectives::name(each)), {}});
  if (option == "algorithm") {
    all = named({"algorithms"});
    for (const char* word : {"auto", "nccl", "all"}) all.push_back({word, {}});
  }
  return all;
}

/// What a command takes beside options; nothing where that is files.
Candidates words_of(std::string_view command, const std::string& typed) {
  if (command == "topology") return named({"nodes", "clusters"});
  if (command == "list") return plain(kind_names());
  if (command == "show") return typed.find('/') == std::string::npos ? named(kind_names()) : names_of_kinds();
  if (command == "keys") return next_level(key_prefixes(), typed, "");
  if (command == "help") return command_names();
  if (command == "completion") return plain(shells());
  return {};
}

Candidates options_of(const CommandLine& line) {
  Candidates all{{"--help", "this text"}};
  for (const auto& option : line.options.options()) all.push_back({"--" + option->long_name(), option->description()});
  return all;
}

/// "--node" for the option node of this command, if a value follows it.
bool takes_value(const CommandLine& line, const std::string& word) {
  return std::ranges::any_of(line.options.options(), [&](const auto& option) {
    return word == "--" + option->long_name() && option->semantic()->max_tokens() > 0;
  });
}

Candidates all_of(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    Candidates all = command_names();
    all.push_back({"--help", "the list of commands"});
    all.push_back({"--version", {}});
    return all;
  }
  const auto known = std::ranges::find(commands(), words.front(), [](const Command* one) { return one->name; });
  if (known == commands().end()) return {};
  const Command& command = **known;
  const CommandLine line = command.line();
  const std::string &typed = words.back(), before = words[words.size() - 2];
  if (words.size() > 2 && takes_value(line, before)) return values_of(command.name, before.substr(2), typed);
  if (!typed.starts_with('-')) return words_of(command.name, typed);
  const std::size_t equals = typed.find('=');
  if (equals == std::string::npos) return options_of(line);
  if (!takes_value(line, typed.substr(0, equals))) return {};
  Candidates values = values_of(command.name, typed.substr(2, equals - 2), typed.substr(equals + 1));
  for (Candidate& value : values) value.word = typed.substr(0, equals + 1) + value.word;
  return values;
}

}  // namespace

std::vector<Candidate> candidates(const std::vector<std::string>& words) {
  Candidates all = all_of(words);
  if (!words.empty()) std::erase_if(all, [&](const Candidate& each) { return !each.word.starts_with(words.back()); });
  return all;
}

namespace {

CommandLine complete_line() {
  return {"usage: stepcast complete -- WORD...\n\nWhat the last word can become, a line each, a tab before its help.",
          boost::program_options::options_description("Options")};
}

int complete(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != "--") {
    if (!parse_options(words, complete_line())) return kDone;
    throw InputError("stepcast complete", "expected -- and the words typed so far");
  }
  std::string text;
  for (const Candidate& each : candidates({words.begin() + 1, words.end()}))
    text += each.word + (each.help.empty() ? "" : "\t" + each.help) + "\n";
  write_output("", text);
  return kDone;
}

}  // namespace

extern const Command complete_command;
constinit const Command complete_command{"complete", "what a word of a command line can be", complete_line, complete,
                                         true};

}  // namespace stepcast::app
