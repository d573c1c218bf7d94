#include "language/frameworks/text/launcher_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace stepcast::language {
namespace {

// What starts a program and has flags of its own.
constexpr auto kLaunchers = std::to_array<std::string_view>({"torchrun",
                                                             "deepspeed",
                                                             "srun",
                                                             "mpirun",
                                                             "mpiexec",
                                                             "python",
                                                             "python3",
                                                             "torch.distributed.run",
                                                             "torch.distributed.launch",
                                                             "numactl",
                                                             "taskset",
                                                             "nice",
                                                             "ionice",
                                                             "chrt",
                                                             "env",
                                                             "time",
                                                             "timeout",
                                                             "stdbuf",
                                                             "nohup",
                                                             "setsid",
                                                             "sudo",
                                                             "nsys",
                                                             "ncu",
                                                             "perf",
                                                             "rocprof",
                                                             "rocprofv3",
                                                             "apptainer",
                                                             "singularity",
                                                             "enroot",
                                                             "docker",
                                                             "podman"});

/// Those that run the module behind "-m".
constexpr auto kRunModules = std::to_array<std::string_view>(
    {"python", "python3", "torchrun", "torch.distributed.run", "torch.distributed.launch"});

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool is_short_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

std::size_t words_of_launcher(std::span<const ShellWord> words) {
  std::string_view launcher;  // the last of them
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text, name = word.substr(word.rfind('/') + 1);
    if (name == "accelerate" || word.ends_with(".py")) return launcher.empty() ? 0 : i;
    if (word == "-m" && is_among(kRunModules, launcher) && i + 1 < words.size() &&
        !is_among(kLaunchers, words[i + 1].text))
      return i;
    if (is_among(kLaunchers, name)) launcher = name;
  }
  return 0;
}

}  // namespace stepcast::language
