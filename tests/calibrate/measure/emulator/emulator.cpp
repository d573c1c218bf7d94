#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "tests/sanitized.h"

#if STEPCAST_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim, gridDim;

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

// Boost.Context's stack switch itself: its fibers own their stacks, and ask the kernel at each switch under sanitizers.
using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t kStack = 128 * 1024;

enum class State { unstarted, ready, at_warp_barrier, at_block_barrier, done };

/// Runs threads one after the other, each to its end; one that waits keeps the fiber until then.
struct Fiber {
  fcontext_t context = nullptr;  // where it goes on
  std::unique_ptr<unsigned char[]> stack{new unsigned char[kStack]};
  std::size_t thread = 0;
};

struct EmulatedBlock {
  std::vector<State> threads;
  std::vector<Fiber*> fiber_of;  // of threads that have begun
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  std::vector<Mailbox> mailboxes;  // two for each warp
  std::vector<bool> second_box;    // of each thread: which of them it used last
  std::unique_ptr<unsigned char, decltype(&std::free)> shared{nullptr, &std::free};
  fcontext_t scheduler = nullptr;  // where it goes on while a fiber runs
  Fiber* running = nullptr;
  const std::function<void()>* body = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_bytes = 0;
};

thread_local EmulatedBlock block;
thread_local bool backwards = false;

#if STEPCAST_ADDRESS_SANITIZER
void leave(void** fake, const void* stack, std::size_t bytes) { __sanitizer_start_switch_fiber(fake, stack, bytes); }
void arrive(void* fake, const void** stack, std::size_t* bytes) { __sanitizer_finish_switch_fiber(fake, stack, bytes); }
#else
void leave(void**, const void*, std::size_t) {}
void arrive(void*, const void**, std::size_t*) {}
#endif

void back_to_scheduler() {
  void* fake = nullptr;
  leave(&fake, block.scheduler_stack, block.scheduler_bytes);
  block.scheduler = jump_fcontext(block.scheduler, nullptr).fctx;
  arrive(fake, &block.scheduler_stack, &block.scheduler_bytes);
}

void wait_at(State barrier) {
  block.threads[block.running->thread] = barrier;
  back_to_scheduler();
}

/// `thread`: in the order in which they run. Backwards a warp's threads are one warp still, if warps are whole.
void become(std::size_t thread) {
  const std::size_t threads = block.threads.size();
  const auto index = static_cast<unsigned>(backwards && threads % 32 == 0 ? threads - 1 - thread : thread);
  threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
}

void entry(transfer_t from) {
  block.scheduler = from.fctx;
  arrive(nullptr, &block.scheduler_stack, &block.scheduler_bytes);
  for (;;) {
    Fiber& self = *block.running;
    become(self.thread);
    (*block.body)();
    block.threads[self.thread] = State::done;
    // The next one begins on the same fiber: kernels without barriers never switch.
    const std::size_t next = self.thread + 1;
    if (next < block.threads.size() && block.threads[next] == State::unstarted) {
      self.thread = next;
      block.fiber_of[next] = &self;
    } else {
      block.idle.push_back(&self);
      back_to_scheduler();
    }
  }
}

Fiber& idle_fiber() {
  if (block.idle.empty()) {
    block.fibers.push_back(std::make_unique<Fiber>());
    Fiber& fresh = *block.fibers.back();
    fresh.context = make_fcontext(fresh.stack.get() + kStack, kStack, entry);
    return fresh;
  }
  Fiber& fiber = *block.idle.back();
  block.idle.pop_back();
  return fiber;
}

/// Until it waits or its fiber has nothing more to begin.
void run(std::size_t thread) {
  if (block.threads[thread] == State::unstarted) {
    block.fiber_of[thread] = &idle_fiber();
    block.fiber_of[thread]->thread = thread;
  }
  Fiber& fiber = *block.fiber_of[thread];
  block.running = &fiber;
  become(thread);
  void* fake = nullptr;
  leave(&fake, fiber.stack.get(), kStack);
  fiber.context = jump_fcontext(fiber.context, nullptr).fctx;
  arrive(fake, nullptr, nullptr);
}

/// Lets all of [first, last) go on if each waits at a barrier of this kind or is done. Whether any went on.
bool release(std::size_t first, std::size_t last, State barrier) {
  bool any = false;
  for (std::size_t i = first; i < last; ++i) {
    const State state = block.threads[i];
    if (state != barrier && state != State::done) return false;
    any = any || state == barrier;
  }
  for (std::size_t i = first; i < last; ++i) {
    if (block.threads[i] == barrier) block.threads[i] = State::ready;
  }
  return any;
}

void run_block(std::size_t threads) {
  block.threads.assign(threads, State::unstarted);
  block.fiber_of.assign(threads, nullptr);
  block.second_box.assign(threads, false);
  for (;;) {
    bool progress = false, all_done = true;
    for (std::size_t warp = 0; warp < threads; warp += 32) {
      const std::size_t end = std::min(warp + 32, threads);
      do {
        for (std::size_t i = warp; i < end; ++i) {
          if (block.threads[i] != State::ready && block.threads[i] != State::unstarted) continue;
          run(i);
          progress = true;
        }
      } while (release(warp, end, State::at_warp_barrier));
    }
    for (std::size_t i = 0; i < threads; ++i) all_done = all_done && block.threads[i] == State::done;
    if (all_done) return;
    if (!release(0, threads, State::at_block_barrier) && !progress) {
      std::fprintf(stderr, "emulator: threads wait at different barriers\n");
      std::abort();
    }
  }
}

}  // namespace

void run_backwards(bool yes) { backwards = yes; }

void run_grid(dim3 grid, dim3 threads, std::size_t shared, const std::function<void()>& body) {
  const std::size_t count = std::size_t{threads.x} * threads.y * threads.z;
  if (count == 0 || count > 1024 || grid.x == 0 || grid.y == 0 || grid.y > 65535 || grid.z > 65535) {
    std::fprintf(stderr, "emulator: no such grid\n");
    std::abort();
  }
  block.mailboxes.resize((count + 31) / 32 * 2);
  block.body = &body;
  gridDim = grid;
  blockDim = threads;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = backwards ? uint3{grid.x - 1 - x, grid.y - 1 - y, grid.z - 1 - z} : uint3{x, y, z};
        block.shared.reset(static_cast<unsigned char*>(std::aligned_alloc(128, (shared + 127) / 128 * 128 + 128)));
        for (std::size_t i = 0; i < shared; ++i) block.shared.get()[i] = 0xff;  // not a number until it is written
        run_block(count);
      }
    }
  }
}

std::size_t& shared_allowed(const void* kernel) {
  constexpr std::size_t kUnasked = 48 * 1024;
  static thread_local std::map<const void*, std::size_t> allowed;
  return allowed.try_emplace(kernel, kUnasked).first->second;
}

unsigned char* dynamic_shared() { return block.shared.get(); }
void wait_block() { wait_at(State::at_block_barrier); }
void wait_warp() { wait_at(State::at_warp_barrier); }
Mailbox& mailbox() {
  const std::size_t thread = block.running->thread;
  block.second_box[thread] = !block.second_box[thread];
  return block.mailboxes[thread / 32 * 2 + (block.second_box[thread] ? 1 : 0)];
}

}  // namespace emulator
