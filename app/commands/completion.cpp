#include <algorithm>
#include <array>
#include <string_view>

#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// A shell and the script that makes it ask `stepcast complete`, so that the script never grows old.
struct Shell {
  std::string_view name, script;
};

constexpr std::array kShells{
    Shell{"bash", R"script(# Completes the words of stepcast. Made by `stepcast completion bash`.
_stepcast() {
  local line=${COMP_LINE:0:COMP_POINT} words candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local program=${words[0]/#\~/$HOME} current=${words[-1]}
  local kept=${current%"${current##*[=:]}"} # bash breaks words there and replaces the last part alone
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$kept"}")
  done < <("$program" complete -- "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[.=] ]] && compopt -o nospace
  return 0
}
complete -o default -F _stepcast stepcast
)script"},
    Shell{"zsh", R"script(#compdef stepcast
# Completes the words of stepcast. Made by `stepcast completion zsh`.
_stepcast() {
  local line word help
  local -a whole parts
  for line in "${(@f)$(${(Q)words[1]/#\~/$HOME} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    word=${${line%%$'\t'*}//:/\\:} help=
    [[ $line == *$'\t'* ]] && help=:${line#*$'\t'}
    case $word in
      *[.=]) parts+=("$word$help") ;;
      *) whole+=("$word$help") ;;
    esac
  done
  if (( ${#whole} + ${#parts} == 0 )); then
    _files
    return
  fi
  (( ${#parts} )) && _describe -V stepcast parts -S ''
  (( ${#whole} )) && _describe -V stepcast whole
}
if [[ $funcstack[1] == _stepcast ]]; then
  _stepcast "$@"
else
  compdef _stepcast stepcast
fi
)script"},
    Shell{"fish", R"script(# Completes the words of stepcast. Made by `stepcast completion fish`.
function __stepcast_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c stepcast -f -a '(__stepcast_complete)'
)script"},
};

Candidates shells(const std::string&) {
  Candidates names;
  for (const Shell& shell : kShells) names.push_back({std::string(shell.name), {}});
  return names;
}

CommandLine completion_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("output", po::value<std::string>()->default_value("", ""),
                        "write to this file instead of standard output");
  return {
      "usage: stepcast completion bash|zsh|fish [OPTIONS]\n\n"
      "Prints the script that completes commands, options, names of configurations and the keys of --set. Packages\n"
      "install it; else, in ~/.bashrc: source <(stepcast completion bash), in ~/.zshrc behind compinit: source\n"
      "<(stepcast completion zsh), in fish: stepcast completion fish > ~/.config/fish/completions/stepcast.fish\n\n"
      "  stepcast completion bash\n"
      "  stepcast completion zsh --output _stepcast",
      options};
}

int completion(const std::vector<std::string>& words) {
  const auto values = parse_options(words, completion_line());
  if (!values) return kDone;
  const auto names = (*values)["path"].as<std::vector<std::string>>();
  const std::string name = names.empty() ? "" : names.front();
  const auto shell = std::ranges::find(kShells, name, &Shell::name);
  if (shell == kShells.end() || names.size() > 1) {
    std::vector<std::string_view> all;
    for (const Shell& each : kShells) all.push_back(each.name);
    throw InputError("stepcast completion",
                     names.size() > 1 ? "found " + in_quotes(names[1]) + ", expected one shell"
                     : names.empty()  ? "found no shell, expected " + language::one_of("", all)
                                      : "found " + in_quotes(name) + ", expected " + language::one_of(name, all));
  }
  write_output((*values)["output"].as<std::string>(), std::string(shell->script));
  return kDone;
}

}  // namespace

extern const Command completion_command;
constinit const Command completion_command{.name = "completion",
                                           .summary = "the script that completes words in bash, zsh or fish",
                                           .line = completion_line,
                                           .run = completion,
                                           .words = shells};

}  // namespace stepcast::app
