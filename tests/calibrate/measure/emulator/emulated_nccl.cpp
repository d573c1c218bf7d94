#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "nccl.h"

namespace {

/// A collective that some ranks have put on their streams.
struct Meeting {
  std::vector<const float*> send;
  std::vector<float*> receive;
  std::vector<cudaStream_t> streams;
  int here = 0;
};

struct World {
  std::map<std::size_t, Meeting> meetings;  // by number of the call
};

std::mutex mutex;
std::map<int, std::shared_ptr<World>> worlds;
int next_id = 1, abort_count = 0, busy_count = 0;

}  // namespace

struct EmulatedComm {
  std::shared_ptr<World> world;
  int rank, ranks;
  std::size_t calls = 0;
  cudaStream_t stream = nullptr;
};

int emulator::aborted() {
  const std::lock_guard lock(mutex);
  return abort_count;
}
int emulator::destroyed_busy() {
  const std::lock_guard lock(mutex);
  return busy_count;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(mutex);
  std::memcpy(id->internal, &next_id, sizeof(next_id));
  ++next_id;
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  const std::lock_guard lock(mutex);
  int number = 0;
  std::memcpy(&number, id.internal, sizeof(number));
  std::shared_ptr<World>& world = worlds[number];
  if (world == nullptr) world = std::make_shared<World>();
  *comm = new EmulatedComm{world, rank, ranks};
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const std::lock_guard lock(mutex);
  if (comm->stream != nullptr && comm->stream->pending != 0) ++busy_count;
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const std::lock_guard lock(mutex);
  ++abort_count;
  for (auto& [number, meeting] : comm->world->meetings)
    for (cudaStream_t& stream : meeting.streams)
      if (stream == comm->stream) stream = nullptr;
  if (comm->stream != nullptr) comm->stream->pending = 0;
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t code) {
  return code == ncclInvalidUsage ? "invalid usage" : code == ncclSuccess ? "no error" : "unhandled system error";
}

namespace {

/// Puts a rank's part of a collective on its stream; `combine` writes what rank r receives, once all are here.
template <class Combine>
ncclResult_t collective(const char* name, const void* send, void* receive, std::size_t count, ncclComm_t comm,
                        cudaStream_t stream, const Combine& combine) {
  if (emulator::refuse) {
    if (const ncclResult_t code = emulator::refuse(name, comm->rank, comm->ranks, count); code != ncclSuccess)
      return code;
  }
  const std::lock_guard lock(mutex);
  comm->stream = stream;
  Meeting& meeting = comm->world->meetings[comm->calls++];
  const auto ranks = static_cast<std::size_t>(comm->ranks), rank = static_cast<std::size_t>(comm->rank);
  meeting.send.resize(ranks);
  meeting.receive.resize(ranks);
  meeting.streams.resize(ranks);
  meeting.send[rank] = static_cast<const float*>(send);
  meeting.receive[rank] = static_cast<float*>(receive);
  meeting.streams[rank] = stream;
  ++stream->pending;
  if (++meeting.here < comm->ranks) return ncclSuccess;
  std::vector<std::vector<float>> results;  // before any is written: ranks may be in place
  for (std::size_t r = 0; r < ranks; ++r) results.push_back(combine(meeting, r));
  for (std::size_t r = 0; r < ranks; ++r) std::copy(results[r].begin(), results[r].end(), meeting.receive[r]);
  for (const cudaStream_t each : meeting.streams)
    if (each != nullptr) --each->pending;
  comm->world->meetings.erase(comm->calls - 1);
  return ncclSuccess;
}

std::vector<float> sum(const Meeting& meeting, std::size_t from, std::size_t count) {
  std::vector<float> total(count, 0);
  for (const float* send : meeting.send)
    for (std::size_t i = 0; i < count; ++i) total[i] += send[from + i];
  return total;
}

}  // namespace

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t, ncclRedOp_t,
                           ncclComm_t comm, cudaStream_t stream) {
  return collective("all_reduce", send, receive, count, comm, stream,
                    [=](const Meeting& m, std::size_t) { return sum(m, 0, count); });
}
ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t, ncclComm_t comm,
                           cudaStream_t stream) {
  return collective("all_gather", send, receive, count, comm, stream, [=](const Meeting& m, std::size_t) {
    std::vector<float> all;
    for (const float* from : m.send) all.insert(all.end(), from, from + count);
    return all;
  });
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t comm, cudaStream_t stream) {
  return collective("reduce_scatter", send, receive, count, comm, stream,
                    [=](const Meeting& m, std::size_t rank) { return sum(m, rank * count, count); });
}
ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return collective("broadcast", send, receive, count, comm, stream, [=](const Meeting& m, std::size_t) {
    const float* const from = m.send[static_cast<std::size_t>(root)];
    return std::vector<float>(from, from + count);
  });
}
ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t, ncclRedOp_t, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return collective("reduce", send, receive, count, comm, stream, [=](const Meeting& m, std::size_t rank) {
    return rank == static_cast<std::size_t>(root) ? sum(m, 0, count) : std::vector<float>();
  });
}
/// Messages are not looked at here: what asks for one is told so.
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) { return ncclInvalidUsage; }
