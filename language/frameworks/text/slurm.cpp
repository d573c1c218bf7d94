#include "language/frameworks/text/slurm.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace stepcast::language {
namespace {

/// An option of sbatch and srun that says how many, by its names.
using SizeOption = std::array<std::string_view, 2>;
constexpr SizeOption kNodes{"--nodes", "-N"}, kGpusOfEach{"--gpus-per-node", "--gres"},
    kTasksOfEach{"--ntasks-per-node", "--tasks-per-node"}, kTasks{"--ntasks", "-n"}, kGpus{"--gpus", "-G"};

/// Of nodes, ranks or GPUs.
std::optional<std::int64_t> number_of(std::string_view text) {
  constexpr std::int64_t kMost = 10'000'000;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0 || number > kMost) return std::nullopt;
  return number;
}

/// The number of "8", "a100:8" or "gpu:a100:8", without quotes; where there is none, the text.
std::string count_in(std::string text) {
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  const std::string last = text.substr(text.rfind(':') + 1);
  return number_of(last) ? last : text;
}

/// What the launch says of an option, and where.
struct SlurmSize {
  std::string count;
  Place place;
};

/// Words of a script with the numbers of their lines.
using NumberedWords = std::vector<std::pair<std::string, std::uint32_t>>;

/// Those of all "#SBATCH" lines. Slurm reads no further than to the first command.
NumberedWords asked_words(std::string_view script) {
  constexpr std::string_view kMark = "#SBATCH";
  NumberedWords out;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < script.size();) {
    const std::size_t end = std::min(script.find('\n', begin), script.size());
    const std::string_view line = script.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos) continue;
    if (line[first] != '#') break;
    if (!line.starts_with(kMark) || line.size() == kMark.size() ||
        std::isblank(static_cast<unsigned char>(line[kMark.size()])) == 0)
      continue;
    std::istringstream text{std::string(line.substr(kMark.size(), line.find(" #") - kMark.size()))};
    for (std::string word; text >> word;) out.emplace_back(word, number);
  }
  return out;
}

std::optional<SlurmSize> asked_for(const NumberedWords& words, const std::string& file, const SizeOption& option) {
  std::optional<SlurmSize> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& [word, line] = words[i];
    for (const std::string_view name : option) {
      std::string value;
      if (word == name && i + 1 < words.size())
        value = words[i + 1].first;
      else if (word.starts_with(std::string(name) + "="))
        value = word.substr(name.size() + 1);
      else if (name.size() == 2 && word.size() > 2 && word.starts_with(name))
        value = word.substr(2);
      if (value.empty() || (name == "--gres" && !value.starts_with("gpu"))) continue;
      out = SlurmSize{count_in(value), {file, line, 1}};
    }
  }
  return out;
}

/// What a launcher's flags say of an option, or else the script's lines.
std::optional<SlurmSize> said_of(const Statements& flags, const NumberedWords& asked, const std::string& file,
                                 const SizeOption& option) {
  for (const Statement& each : flags)
    if (each.of_launcher && std::ranges::find(option, each.name) != option.end())
      return SlurmSize{count_in(each.text), each.place};
  return asked_for(asked, file, option);
}

bool says(const Statements& flags, std::span<const std::string_view> names) {
  return std::ranges::any_of(flags,
                             [&](const Statement& each) { return std::ranges::find(names, each.name) != names.end(); });
}

void forget(Statements& flags, std::string_view name) {
  std::erase_if(flags, [&](const Statement& each) { return each.of_launcher && each.name == name; });
}

void say(Statements& flags, const char* name, const SlurmSize& size) {
  forget(flags, name);
  flags.insert(flags.begin(), {.name = name, .text = size.count, .place = size.place, .of_launcher = true});
}

}  // namespace

std::map<std::string, std::string, std::less<>> slurm_variables(std::string_view script) {
  std::map<std::string, std::string, std::less<>> out;
  const NumberedWords asked = asked_words(script);
  const auto give = [&](const std::optional<SlurmSize>& size, std::initializer_list<const char*> variables) {
    const std::optional<std::int64_t> number = size ? number_of(size->count) : std::nullopt;
    if (number)
      for (const char* variable : variables) out.emplace(variable, size->count);
    return number;
  };
  const auto nodes = give(asked_for(asked, "", kNodes), {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  give(asked_for(asked, "", kGpusOfEach), {"SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"});
  const auto each = give(asked_for(asked, "", kTasksOfEach), {"SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  give(asked_for(asked, "", kGpus), {"SLURM_GPUS"});
  if (!give(asked_for(asked, "", kTasks), {"SLURM_NTASKS", "SLURM_NPROCS"}) && nodes && each)
    give(SlurmSize{std::to_string(*nodes * *each), {}}, {"SLURM_NTASKS", "SLURM_NPROCS"});
  return out;
}

ShortSize short_size(std::string_view word, std::span<const ShellWord> before) {
  const auto stands = [&](std::string_view launcher) {
    return std::ranges::any_of(before, [&](const ShellWord& each) { return each.text == launcher; });
  };
  if (stands("srun") && (word.starts_with("-N") || word.starts_with("-n")))
    return {word[1] == 'N' ? "--nodes" : "--ntasks", word.substr(2)};
  if ((stands("mpirun") || stands("mpiexec")) && (word == "-n" || word == "-np")) return {"--ntasks", {}};
  return {};
}

void add_slurm_sizes(std::string_view script, const std::string& file, Statements& flags) {
  static constexpr std::array<std::string_view, 2> kSaysNodes{"--nnodes", "--num_nodes"};
  static constexpr std::array<std::string_view, 3> kSaysGpus{"--nproc-per-node", "--nproc_per_node", "--num_gpus"};
  const NumberedWords asked = asked_words(script);
  // Where another launcher says it, srun may start one node's part of the job.
  const std::optional<SlurmSize> nodes = said_of(flags, asked, file, kNodes);
  if (says(flags, kSaysNodes))
    forget(flags, "--nodes");
  else if (nodes)
    say(flags, "--nodes", *nodes);
  if (says(flags, kSaysGpus)) return forget(flags, "--gpus-per-node");
  for (const SizeOption& of_each : {kGpusOfEach, kTasksOfEach})
    if (const std::optional<SlurmSize> size = said_of(flags, asked, file, of_each))
      return say(flags, "--gpus-per-node", *size);
  for (const SizeOption& of_all : {kGpus, kTasks})
    if (const std::optional<SlurmSize> size = said_of(flags, asked, file, of_all)) {
      const std::int64_t all = number_of(size->count).value_or(0);
      const std::int64_t over = nodes ? number_of(nodes->count).value_or(1) : 1;
      const bool even = all > 0 && all % over == 0;
      return say(flags, "--gpus-per-node", {even ? std::to_string(all / over) : size->count, size->place});
    }
}

}  // namespace stepcast::language
