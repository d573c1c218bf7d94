#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "app/mpi_module/processes.h"

namespace stepcast::app {
namespace {

constexpr int kTag = 0, kFirst = 0;

/// MPI waits by asking again and again, which takes a core from those that work. This asks less and less often.
class Patience {
 public:
  void wait() {
    std::this_thread::sleep_for(pause_);
    if (pause_ < std::chrono::milliseconds(1)) pause_ *= 2;
  }

 private:
  std::chrono::microseconds pause_{10};
};

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw std::runtime_error("MPI: " + std::string(text, static_cast<std::size_t>(size)));
}

int size_of(const std::string& message) {
  if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error("MPI: a message of more than 2 GiB");
  return static_cast<int>(message.size());
}

class MpiProcesses : public Processes {
 public:
  MpiProcesses() {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &number_));
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_));
    MPI_Comm machine;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, number_, MPI_INFO_NULL, &machine));
    check(MPI_Comm_size(machine, &here_));
    check(MPI_Comm_free(&machine));
  }
  MpiProcesses(const MpiProcesses&) = delete;
  ~MpiProcesses() override { MPI_Finalize(); }

  unsigned number() const override { return static_cast<unsigned>(number_); }
  unsigned count() const override { return static_cast<unsigned>(count_); }
  unsigned here() const override { return static_cast<unsigned>(here_); }

  void send(const std::string& message) override {
    MPI_Request sent;
    check(MPI_Issend(message.data(), size_of(message), MPI_CHAR, kFirst, kTag, MPI_COMM_WORLD, &sent));
    Patience patience;
    for (int done = 0;;) {
      check(MPI_Test(&sent, &done, MPI_STATUS_IGNORE));
      if (done != 0) return;
      patience.wait();
    }
  }

  std::string receive(unsigned from) override {
    MPI_Status status;
    Patience patience;
    for (int there = 0;;) {
      check(MPI_Iprobe(static_cast<int>(from), kTag, MPI_COMM_WORLD, &there, &status));
      if (there != 0) break;
      patience.wait();
    }
    int size = 0;
    check(MPI_Get_count(&status, MPI_CHAR, &size));
    std::string message(static_cast<std::size_t>(size), '\0');
    check(MPI_Recv(message.data(), size, MPI_CHAR, static_cast<int>(from), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return message;
  }

  std::string told(const std::string& by_first) override {
    int size = number_ == kFirst ? size_of(by_first) : 0;
    check(MPI_Bcast(&size, 1, MPI_INT, kFirst, MPI_COMM_WORLD));
    std::string message = by_first;
    message.resize(static_cast<std::size_t>(size));
    check(MPI_Bcast(message.data(), size, MPI_CHAR, kFirst, MPI_COMM_WORLD));
    return message;
  }

  [[noreturn]] void end_all(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 private:
  int number_ = 0, count_ = 1, here_ = 1;
};

/// Messages come from whichever thread has made one, one at a time.
Processes* begin() {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  if (provided < MPI_THREAD_SERIALIZED) throw std::runtime_error("MPI: it cannot be used from several threads");
  auto processes = std::make_unique<MpiProcesses>();
  return processes->count() > 1 ? processes.release() : nullptr;
}

}  // namespace
}  // namespace stepcast::app

extern "C" stepcast::app::Processes* stepcast_begin_mpi(std::string& error) {
  error.clear();
  try {
    return stepcast::app::begin();
  } catch (const std::exception& e) {
    error = e.what();
    return nullptr;
  }
}
