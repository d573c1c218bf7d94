#include "app/commands/complete.h"

#include <algorithm>

#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "collectives/operation.h"
#include "language/frameworks/frameworks.h"
#include "language/scenario.h"
#include "search/resource.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

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
  if (key->type.kind == language::Type::Kind::flag) values = plain_candidates({"true", "false"});
  if (key->type.kind == language::Type::Kind::block)
    values = named_candidates({std::string(key->type.fields().folder)});
  for (Candidate& value : values) value.word = typed.substr(0, equals + 1) + value.word;
  return values;
}

/// What can stand behind an option; nothing where it is a number, a text or a file.
Candidates values_of(const CommandLine& line, std::string_view option, const std::string& typed) {
  if (option == "set" || option == "axis") return settings(typed, line.sets_scenarios);
  if (option == "format") return plain_candidates(line.formats);
  if (option == "node") return named_candidates({"nodes"});
  if (option == "cluster") return named_candidates({"clusters"});
  if (option == "gpu") return named_candidates({"gpus"});
  if (option == "software") return named_candidates({"software"});
  if (option == "fabric") return named_candidates({"fabrics"});
  if (option == "nvlink" || option == "pcie" || option == "socket-link") return named_candidates({"links"});
  if (option == "profile") return named_candidates({"profiles"});
  if (option == "protocol") return plain_candidates({"Simple", "LL128", "LL"});
  Candidates all;
  if (option == "price")
    for (const search::RatedResource& each : search::resources())
      all.push_back({std::string(each.name) + "=", std::string(each.meaning)});
  if (option == "least") {
    all = plain_candidates({"cluster.gpus", "memory"});
    for (const search::RatedResource& each : search::resources())
      all.push_back({std::string(each.name), std::string(each.meaning)});
  }
  if (option == "to" || option == "emit")
    for (const language::Framework* framework : language::frameworks())
      all.push_back({std::string(framework->name), std::string(framework->title)});
  if (option == "emit") all.push_back({"yaml", "a scenario"});
  if (option == "op")
    for (const collectives::Operation each : collectives::kOperations)
      all.push_back({std::string(collectives::name(each)), {}});
  if (option == "algorithm") {
    all = named_candidates({"algorithms"});
    for (const char* word : {"auto", "library", "nccl", "all"}) all.push_back({word, {}});
  }
  return all;
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
    Candidates all = command_candidates();
    all.push_back({"--help", "the list of commands"});
    all.push_back({"--version", {}});
    return all;
  }
  const auto known = std::ranges::find(commands(), words.front(), [](const Command* one) { return one->name; });
  if (known == commands().end()) return {};
  const Command& command = **known;
  const CommandLine line = command.line();
  const std::string &typed = words.back(), before = words[words.size() - 2];
  if (words.size() > 2 && takes_value(line, before)) return values_of(line, before.substr(2), typed);
  if (!typed.starts_with('-')) return command.words == nullptr ? Candidates{} : command.words(typed);
  const std::size_t equals = typed.find('=');
  if (equals == std::string::npos) return options_of(line);
  if (!takes_value(line, typed.substr(0, equals))) return {};
  Candidates values = values_of(line, typed.substr(2, equals - 2), typed.substr(equals + 1));
  for (Candidate& value : values) value.word = typed.substr(0, equals + 1) + value.word;
  return values;
}

}  // namespace

Candidates candidates(const std::vector<std::string>& words) {
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
