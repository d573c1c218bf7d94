#include "calibrate/measure/suites/cluster.h"

#ifdef STEPCAST_MPI
#include <mpi.h>
#endif

namespace stepcast::measure {

#ifdef STEPCAST_MPI

Cluster::Cluster() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) {
    int given = 0;  // ranks are threads here, of which one at a time calls MPI
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
    ours_ = true;
  }
  MPI_Comm_size(MPI_COMM_WORLD, &nodes_);
  MPI_Comm_rank(MPI_COMM_WORLD, &node_);
}

Cluster::~Cluster() {
  if (ours_) MPI_Finalize();
}

void Cluster::broadcast(void* bytes, std::size_t count) const {
  MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void Cluster::wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

double Cluster::most(double value) const {
  double result = value;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

double Cluster::total(double value) const {
  double result = value;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return result;
}

#else

Cluster::Cluster() = default;
Cluster::~Cluster() = default;
void Cluster::broadcast(void*, std::size_t) const {}
void Cluster::wait_for_all() const {}
double Cluster::most(double value) const { return value; }
double Cluster::total(double value) const { return value; }

#endif

}  // namespace stepcast::measure
