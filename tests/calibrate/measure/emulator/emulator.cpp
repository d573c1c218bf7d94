#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

thread_local uint3 threadIdx{}, blockIdx{};
thread_local dim3 blockDim, gridDim;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;  // as CUDA's; past the end the address sanitizer watches
  *pointer = nullptr;
  return posix_memalign(pointer, kAlignment, bytes == 0 ? 1 : bytes) == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaFreeHost(void* pointer) { return cudaFree(pointer); }

namespace emulator {
namespace {

constexpr std::size_t kStack = 128 * 1024;

enum class State { ready, at_warp_barrier, at_block_barrier, done };

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<unsigned char[]> stack{new unsigned char[kStack]};
  State state = State::ready;
  uint3 thread{};
};

struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Mailbox> mailboxes;
  std::unique_ptr<unsigned char, decltype(&std::free)> shared{nullptr, &std::free};
  ucontext_t scheduler{};
  Fiber* running = nullptr;
  const std::function<void()>* body = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_bytes = 0;
};

thread_local Block block;

#if defined(__SANITIZE_ADDRESS__)
void leave(void** fake, const void* stack, std::size_t bytes) { __sanitizer_start_switch_fiber(fake, stack, bytes); }
void arrive(void* fake, const void** stack, std::size_t* bytes) { __sanitizer_finish_switch_fiber(fake, stack, bytes); }
#else
void leave(void**, const void*, std::size_t) {}
void arrive(void*, const void**, std::size_t*) {}
#endif

void back_to_scheduler(State state) {
  Fiber* const self = block.running;
  self->state = state;
  void* fake = nullptr;
  leave(state == State::done ? nullptr : &fake, block.scheduler_stack, block.scheduler_bytes);
  swapcontext(&self->context, &block.scheduler);
  arrive(fake, &block.scheduler_stack, &block.scheduler_bytes);
}

void entry() {
  arrive(nullptr, &block.scheduler_stack, &block.scheduler_bytes);
  (*block.body)();
  back_to_scheduler(State::done);
}

void run(Fiber& fiber) {
  block.running = &fiber;
  threadIdx = fiber.thread;
  void* fake = nullptr;
  leave(&fake, fiber.stack.get(), kStack);
  swapcontext(&block.scheduler, &fiber.context);
  arrive(fake, nullptr, nullptr);
}

/// Lets all of [first, last) go on if each waits at a barrier of this kind or is done. Whether any went on.
bool release(std::size_t first, std::size_t last, State barrier) {
  bool any = false;
  for (std::size_t i = first; i < last; ++i) {
    const State state = block.fibers[i]->state;
    if (state != barrier && state != State::done) return false;
    any = any || state == barrier;
  }
  for (std::size_t i = first; i < last; ++i) {
    if (block.fibers[i]->state == barrier) block.fibers[i]->state = State::ready;
  }
  return any;
}

void run_block(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    Fiber& fiber = *block.fibers[i];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    const auto index = static_cast<unsigned>(i);
    fiber.thread = {index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
    fiber.state = State::ready;
    makecontext(&fiber.context, entry, 0);
  }
  for (;;) {
    bool progress = false, all_done = true;
    for (std::size_t warp = 0; warp < threads; warp += 32) {
      const std::size_t end = std::min(warp + 32, threads);
      do {
        for (std::size_t i = warp; i < end; ++i) {
          if (block.fibers[i]->state != State::ready) continue;
          run(*block.fibers[i]);
          progress = true;
        }
      } while (release(warp, end, State::at_warp_barrier));
    }
    for (std::size_t i = 0; i < threads; ++i) all_done = all_done && block.fibers[i]->state == State::done;
    if (all_done) return;
    if (!release(0, threads, State::at_block_barrier) && !progress) {
      std::fprintf(stderr, "emulator: threads wait at different barriers\n");
      std::abort();
    }
  }
}

}  // namespace

void run_grid(dim3 grid, dim3 threads, std::size_t shared, const std::function<void()>& body) {
  const std::size_t count = std::size_t{threads.x} * threads.y * threads.z;
  if (count == 0 || count > 1024 || grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z > 65535) {
    std::fprintf(stderr, "emulator: no such grid\n");
    std::abort();
  }
  while (block.fibers.size() < count) block.fibers.push_back(std::make_unique<Fiber>());
  block.mailboxes.resize((count + 31) / 32);
  block.body = &body;
  gridDim = grid;
  blockDim = threads;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        block.shared.reset(static_cast<unsigned char*>(std::aligned_alloc(128, (shared + 127) / 128 * 128 + 128)));
        for (std::size_t i = 0; i < shared; ++i) block.shared.get()[i] = 0xff;  // not a number until it is written
        run_block(count);
      }
    }
  }
}

unsigned char* dynamic_shared() { return block.shared.get(); }
void wait_block() { back_to_scheduler(State::at_block_barrier); }
void wait_warp() { back_to_scheduler(State::at_warp_barrier); }
Mailbox& mailbox() {
  const unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block.mailboxes[linear / 32];
}

}  // namespace emulator
