#pragma once

// A stand-in for NCCL's header of this name: ranks are threads of one process, and a collective is done once all ranks
// have put theirs on their streams, as on GPUs. Calls return at once. A rank that never comes leaves the others'
// streams busy until their communicators are aborted.

#include <cstddef>
#include <functional>

#include "cuda_runtime.h"

enum ncclResult_t { ncclSuccess = 0, ncclSystemError = 2, ncclInvalidUsage = 5 };
enum ncclDataType_t { ncclFloat32 = 7, ncclBfloat16 = 9 };
enum ncclRedOp_t { ncclSum = 0, ncclMax = 2 };
struct ncclUniqueId {
  char internal[128];
};
struct EmulatedComm;
using ncclComm_t = EmulatedComm*;

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
const char* ncclGetErrorString(ncclResult_t code);
inline ncclResult_t ncclGroupStart() { return ncclSuccess; }
inline ncclResult_t ncclGroupEnd() { return ncclSuccess; }
ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);

namespace emulator {
/// What NCCL should say to a call of a rank ("all_reduce", of so many elements) among so many; empty: success to all.
inline std::function<ncclResult_t(const char* call, int rank, int ranks, std::size_t count)> refuse;
/// Communicators that were aborted, and destroyed while their streams were busy, since the start.
int aborted();
int destroyed_busy();
}  // namespace emulator
