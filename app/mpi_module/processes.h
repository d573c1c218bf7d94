#pragma once

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

}  // namespace stepcast::app

/// The only name of the module stepcast-mpi, a shared object of its own: the program loads it where MPI's launcher has
/// started it (app/sweep/started_together.cpp), and elsewhere has none of MPI's start-up. Begins MPI. Null: this
/// process is alone, and `error` is empty; or MPI fails, and `error` says why.
extern "C" stepcast::app::Processes* stepcast_begin_mpi(std::string& error);
