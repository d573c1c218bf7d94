#pragma once

#include <memory>
#include <string>

namespace stepcast::app {

/// Processes that MPI's launcher started together, of which this is one. They end together: the last one to be
/// destroyed lets all go on. Not for two threads at once.
class Processes {
 public:
  virtual ~Processes() = default;

  virtual unsigned number() const = 0;  ///< this one's, from 0
  virtual unsigned count() const = 0;   ///< of all of them, 2 or more
  virtual unsigned here() const = 0;    ///< of those on this machine

  /// Gives a message to the first process; returns once that one receives it.
  virtual void send(const std::string& message) = 0;
  /// To the first process: the next message of another one.
  virtual std::string receive(unsigned from) = 0;
  /// To all: what the first one says.
  virtual std::string told(const std::string& by_first) = 0;
  /// Ends all of them at once, with this exit status.
  [[noreturn]] virtual void end_all(int status) = 0;
};

/// The processes that this one was started with; none: it was started alone. Throws InputError where it was started
/// with others and cannot speak with them, std::runtime_error where MPI fails.
std::unique_ptr<Processes> processes_started_together();

}  // namespace stepcast::app
