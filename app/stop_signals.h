#pragma once

namespace stepcast::app {

/// While one of these stands, the first SIGINT (Ctrl-C) or SIGTERM asks for an end; the next one is the end, as without
/// it. What was ignored when the program began, as nohup has it, stays so. There is at most one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Safe from any thread.
  bool asked() const;
  /// What a shell sees of a program that the signal ended: 130 of SIGINT, 143 of SIGTERM. Requires asked().
  int status() const;
};

}  // namespace stepcast::app
