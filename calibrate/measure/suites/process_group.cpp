#include "calibrate/measure/suites/process_group.h"

#include <stdexcept>
#include <string>
#include <vector>

#ifdef STEPCAST_MPI
#include <mpi.h>
#endif

namespace stepcast::measure {

#ifdef STEPCAST_MPI

ProcessGroup::ProcessGroup(bool alone) {
  if (alone) return;
  int given = MPI_THREAD_SERIALIZED;  // ranks are threads here, of which one at a time calls MPI
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
    ours_ = true;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &nodes_);
  MPI_Comm_rank(MPI_COMM_WORLD, &node_);
  MPI_Comm same_node = MPI_COMM_NULL;
  int here = 1, most = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &same_node);
  MPI_Comm_size(same_node, &here);
  MPI_Comm_free(&same_node);
  MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);  // all processes throw, or none
  std::string problem;
  if (most > 1) problem = std::to_string(most) + " processes on one node; start one, which takes all of its GPUs";
  if (nodes_ > 1 && given < MPI_THREAD_SERIALIZED) problem = "this one cannot be called by several threads in turn";
  if (problem.empty()) return;
  if (ours_) MPI_Finalize();
  throw std::runtime_error("MPI: " + problem);
}

void ProcessGroup::abandon(int status) const {
  if (nodes_ > 1) MPI_Abort(MPI_COMM_WORLD, status);
}

ProcessGroup::~ProcessGroup() {
  if (ours_) MPI_Finalize();
}

void ProcessGroup::broadcast(void* bytes, std::size_t count) const {
  if (nodes_ > 1) MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void ProcessGroup::wait_for_all() const {
  if (nodes_ > 1) MPI_Barrier(MPI_COMM_WORLD);
}

double ProcessGroup::most(double value) const {
  double result = value;
  if (nodes_ > 1) MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

std::string ProcessGroup::first_of(const std::string& text) const {
  if (nodes_ == 1) return text;
  constexpr std::size_t kWidth = 512;
  std::vector<char> mine(kWidth, '\0'), all(kWidth * static_cast<std::size_t>(nodes_));
  text.copy(mine.data(), 500);
  MPI_Allgather(mine.data(), kWidth, MPI_CHAR, all.data(), kWidth, MPI_CHAR, MPI_COMM_WORLD);
  for (std::size_t node = 0; node < static_cast<std::size_t>(nodes_); ++node) {
    if (all[node * kWidth] != '\0') return &all[node * kWidth];
  }
  return "";
}

double ProcessGroup::total(double value) const {
  double result = value;
  if (nodes_ > 1) MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return result;
}

#else

ProcessGroup::ProcessGroup(bool) {}
ProcessGroup::~ProcessGroup() = default;
void ProcessGroup::abandon(int) const {}
void ProcessGroup::broadcast(void*, std::size_t) const {}
void ProcessGroup::wait_for_all() const {}
double ProcessGroup::most(double value) const { return value; }
double ProcessGroup::total(double value) const { return value; }
std::string ProcessGroup::first_of(const std::string& text) const { return text; }

#endif

}  // namespace stepcast::measure
