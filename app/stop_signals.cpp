#include "app/stop_signals.h"

#include <array>
#include <atomic>
#include <csignal>

namespace stepcast::app {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};
constexpr int kOfSignal = 128;

// A handler has nothing but globals.
std::atomic<int> asked_by = 0;
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers may use no other");

void ask(int signal) {
  asked_by = signal;
  for (const int each : kSignals) std::signal(each, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  asked_by = 0;
  struct sigaction action = {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int each : kSignals) {
    struct sigaction before = {};
    sigaction(each, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(each, &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (const int each : kSignals) {
    struct sigaction now = {};
    sigaction(each, nullptr, &now);
    if (now.sa_handler == ask) std::signal(each, SIG_DFL);
  }
}

bool StopSignals::asked() const { return asked_by != 0; }
int StopSignals::status() const { return kOfSignal + asked_by; }

}  // namespace stepcast::app
