#include "language/frameworks/text/slurm.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace stepcast::language {
namespace {

/// An option of sbatch and srun that says how many: its names, and the variables that hold it.
struct SizeOption {
  std::array<std::string_view, 2> names;
  std::array<std::string_view, 2> variables;
};
constexpr SizeOption kNodes{{"--nodes", "-N"}, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}};
constexpr SizeOption kGpus{{"--gpus-per-node", "--gres"}, {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"}};
constexpr SizeOption kTasks{{"--ntasks-per-node", "--tasks-per-node"},
                            {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The number at the end of "8", "a100:8" or "gpu:a100:8"; "" where there is none.
std::string count_in(std::string_view text) {
  const std::string_view last = text.substr(text.rfind(':') + 1);
  return is_number(last) ? std::string(last) : "";
}

/// What "#SBATCH" lines say of an option, and on which line, the last of them; 0: none does.
struct SlurmSize {
  std::string count;
  std::uint32_t line = 0;
};

/// The options of one line, in words; a comment ends it.
std::vector<std::string> words_of_line(std::string_view line) {
  std::istringstream text{std::string(line.substr(0, line.find(" #")))};
  return {std::istream_iterator<std::string>(text), {}};
}

SlurmSize asked_for(std::string_view script, const SizeOption& option) {
  constexpr std::string_view kMark = "#SBATCH";
  SlurmSize out;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < script.size();) {
    const std::size_t end = std::min(script.find('\n', begin), script.size());
    const std::string_view line = script.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (!line.starts_with(kMark)) continue;
    const std::vector<std::string> words = words_of_line(line.substr(kMark.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i], name = word.substr(0, word.find('='));
      if (std::ranges::find(option.names, name) == option.names.end()) continue;
      const std::string_view value = name.size() < word.size() ? word.substr(name.size() + 1)
                                     : i + 1 < words.size()    ? std::string_view(words[i + 1])
                                                               : "";
      if (std::string count = count_in(value); !count.empty()) out = {std::move(count), number};
    }
  }
  return out;
}

bool says(const Statements& flags, std::span<const std::string_view> names) {
  return std::ranges::any_of(flags,
                             [&](const Statement& each) { return std::ranges::find(names, each.name) != names.end(); });
}

}  // namespace

std::map<std::string, std::string, std::less<>> slurm_variables(std::string_view script) {
  std::map<std::string, std::string, std::less<>> out;
  for (const SizeOption& option : {kNodes, kGpus, kTasks})
    if (const SlurmSize asked = asked_for(script, option); asked.line > 0)
      for (const std::string_view variable : option.variables) out.emplace(variable, asked.count);
  return out;
}

void add_slurm_sizes(std::string_view script, const std::string& file, Statements& flags) {
  static constexpr std::array<std::string_view, 3> kSaysNodes{"--nnodes", "--num_nodes", "--nodes"};
  static constexpr std::array<std::string_view, 4> kSaysGpus{"--nproc-per-node", "--nproc_per_node", "--num_gpus",
                                                             "--gpus-per-node"};
  const auto add = [&](const char* name, const SlurmSize& asked) {
    if (asked.line == 0) return;
    flags.insert(flags.begin(),
                 {.name = name, .text = asked.count, .place = {file, asked.line, 1}, .of_launcher = true});
  };
  if (!says(flags, kSaysNodes)) add("--nodes", asked_for(script, kNodes));
  if (says(flags, kSaysGpus)) return;
  // A task for each GPU, where nothing starts several ranks in a task.
  for (Statement& each : flags)
    if (each.of_launcher && each.name == kTasks.names[0]) {
      each.name = "--gpus-per-node";
      return;
    }
  const SlurmSize gpus = asked_for(script, kGpus);
  add("--gpus-per-node", gpus.line > 0 ? gpus : asked_for(script, kTasks));
}

}  // namespace stepcast::language
