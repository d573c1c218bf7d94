#pragma once

// A stand-in for CUDA's header of this name: kernels of calibrate/measure run on the CPU, each thread of a block a
// fiber, so that tests (and the address sanitizer) see their arithmetic without a GPU. Blocks run one after the other;
// a barrier that not all threads reach is an error, a race between barriers is not seen. Memory is the host's, streams
// do at once what they are told.

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

// constinit: reached without a call that might initialise them, which the undefined-behaviour sanitizer of g++ 12 takes
// for a null pointer.
extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };
/// Kernels and copies are done when they are put on a stream; collectives (nccl.h here) when all ranks have come.
struct EmulatedStream {
  std::atomic<int> pending = 0;
};
struct EmulatedEvent;
using cudaStream_t = EmulatedStream*;
using cudaEvent_t = EmulatedEvent*;
struct cudaLaunchAttribute {};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new EmulatedStream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream == nullptr || stream->pending == 0 ? cudaSuccess : cudaErrorNotReady;
}
inline cudaError_t cudaDeviceGetPCIBusId(char*, int, int) { return cudaErrorInvalidValue; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = std::size_t{1} << 40;
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "emulated error"; }
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes);

namespace emulator {
/// Whether threads and blocks run last to first: what a barrier should order, and none does, comes out another way.
void run_backwards(bool backwards);
/// Runs a kernel's body once per thread of every block. `shared`: bytes of dynamic shared memory.
void run_grid(dim3 grid, dim3 block, std::size_t shared, const std::function<void()>& body);
unsigned char* dynamic_shared();
/// Bytes of dynamic shared memory that a kernel may have: 48 KiB until it asks for more, at most 227 KiB (compute
/// capability 9.0: CUDA programming guide, "Technical Specifications per Compute Capability").
std::size_t& shared_allowed(const void* kernel);
inline constexpr std::size_t kMostShared = 227 * 1024;
void wait_block();  ///< until all threads of the block are here
void wait_warp();   ///< until all threads of the warp are here
/// A place that the 32 threads of this warp share. mailbox() is another one at the next call, so that a thread may
/// write to it while others still read the one before: one barrier an exchange.
struct Mailbox {
  alignas(16) unsigned char lane[32][64];
};
Mailbox& mailbox();
inline unsigned lane() { return threadIdx.x % 32; }
}  // namespace emulator

template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) > emulator::kMostShared) return cudaErrorInvalidValue;
  emulator::shared_allowed(reinterpret_cast<const void*>(kernel)) = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  if (config->dynamicSmemBytes > emulator::shared_allowed(reinterpret_cast<const void*>(kernel)))
    return cudaErrorInvalidValue;
  emulator::run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes, [&] { kernel(arguments...); });
  return cudaSuccess;
}

inline void __syncthreads() { emulator::wait_block(); }
inline void __syncwarp(unsigned = 0xffffffffu) { emulator::wait_warp(); }
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  static_assert(std::is_trivially_copyable_v<T>);
  emulator::Mailbox& box = emulator::mailbox();
  std::memcpy(box.lane[emulator::lane()], &value, sizeof(T));
  emulator::wait_warp();
  T got;
  std::memcpy(&got, box.lane[emulator::lane() ^ static_cast<unsigned>(mask)], sizeof(T));
  return got;
}
inline float atomicAdd(float* at, float value) {
  const float old = *at;
  *at += value;
  return old;
}
inline int min(int a, int b) { return b < a ? b : a; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
