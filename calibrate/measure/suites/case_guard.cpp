#include "calibrate/measure/suites/case_guard.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "calibrate/measure/host/supervise.h"
#include "calibrate/measure/kernels/check_cuda.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {

CaseGuard::CaseGuard(const std::filesystem::path& folder, const std::string& run, std::string suite,
                     const ProcessGroup& cluster)
    : suite_(std::move(suite)), cluster_(cluster), watchdog_([this](const std::string& what) {
        give_up(what + ": hung: a call did not return within " + std::to_string(static_cast<long>(kWatchdogPatience)) +
                " s");
      }) {
  if (cluster.node() != 0) return;
  refusals_.emplace(folder, run);
  journal_.emplace(folder);
  // Several processes have no supervisor: what ended them the last time is told here.
  if (const auto left = journal_->under_way(); left && !left->why.empty())
    refusals_->add(left->suite, left->what, left->why);
}

bool CaseGuard::refused(const std::string& what) const {
  char yes = refusals_ && refusals_->has(suite_, what) ? 1 : 0;
  cluster_.broadcast(&yes, 1);
  return yes != 0;
}

bool CaseGuard::measure(const std::string& what, const std::function<void()>& function, double more_s) {
  if (journal_) journal_->begin(suite_, what);
  // Process 0 writes what happened: the others let it be the first to give up.
  what_ = what;
  moved(more_s);
  std::string problem;
  try {
    function();
  } catch (const std::runtime_error& error) {
    problem = error.what();
    if (problem.empty()) problem = "failed";
  }
  problem = cluster_.first_of(problem);
  if (problem.rfind(what + ": ", 0) == 0) problem.erase(0, what.size() + 2);  // the row names the case already
  watchdog_.rest();
  if (!problem.empty()) {
    cudaGetLastError();  // out of memory is forgotten; what is worse shows in the next line
    if (const cudaError_t code = cudaDeviceSynchronize(); code != cudaSuccess)
      give_up(problem + "; the GPU cannot be used after it: " + cudaGetErrorString(code));
    if (refusals_) {
      say(suite_ + ": not measured: " + what + ": " + problem);
      refusals_->add(suite_, what, problem);
    }
  }
  if (journal_) journal_->end();
  return problem.empty();
}

void CaseGuard::moved(double more_s) {
  watchdog_.expect(what_, kWatchdogPatience + more_s + (cluster_.node() == 0 ? 0 : 30));
}

void CaseGuard::give_up(const std::string& why) {
  if (journal_) journal_->give_up(why);
  say(suite_ + ": " + why + ": this process ends; started again it goes on behind that case");
  std::fflush(nullptr);
  cluster_.abandon(kHung);
  std::_Exit(kHung);
}

void CaseGuard::finish() {
  if (refusals_) refusals_->finish();
}

}  // namespace stepcast::measure
