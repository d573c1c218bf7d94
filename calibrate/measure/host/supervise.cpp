#include "calibrate/measure/host/supervise.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "calibrate/measure/host/case_journal.h"
#include "calibrate/measure/host/refusals.h"

extern char** environ;

namespace stepcast::measure {
namespace {

struct Ended {
  int status = 0;  ///< exit status, or 128 + signal
  bool hung = false;
};

Ended run_once(std::vector<std::string> words, const Supervision& how, const CaseJournal& journal) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
    throw std::runtime_error("cannot start " + words[0]);
  std::optional<CaseJournal::CaseUnderWay> at;
  double since = how.now();
  Ended ended;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const std::optional<CaseJournal::CaseUnderWay> now_at = journal.under_way();
    if (now_at != at) {
      at = now_at;
      since = how.now();
    }
    if (at && how.now() - since > how.patience_s) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ended.hung = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace

int supervise(const std::vector<std::string>& words, const Supervision& how) {
  constexpr int kMostStarts = 200;
  CaseJournal journal(how.folder);
  int status = 0;
  for (int start = 0; start < kMostStarts; ++start) {
    journal.end();  // what an earlier process left
    const Ended ended = run_once(words, how, journal);
    status = ended.status;
    const std::optional<CaseJournal::CaseUnderWay> at = journal.under_way();
    const bool by_signal = ended.status > 128;
    // An interrupt is of the user and concerns no case.
    const bool interrupted = ended.status == 128 + SIGINT || ended.status == 128 + SIGTERM;
    if (!at || interrupted || (!ended.hung && !by_signal && ended.status != kHung)) break;
    std::string why = at->why;
    if (ended.hung)
      why = "hung: ended after " + std::to_string(static_cast<long>(how.patience_s)) + " s";
    else if (why.empty())
      why = by_signal ? "ended by signal " + std::to_string(ended.status - 128) : "hung";
    how.say(at->suite + ": not measured: " + at->what + ": " + why);
    Refusals refused(how.folder, how.run);
    const bool again = refused.has(at->suite, at->what);
    refused.add(at->suite, at->what, why);
    if (again) break;  // the program does not pass over what is refused
  }
  journal.end();
  return status;
}

}  // namespace stepcast::measure
