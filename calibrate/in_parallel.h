#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <cstddef>

// ThreadSanitizer does not see how a library that is not built with it hands work from thread to thread.
#if defined(__SANITIZE_THREAD__)
#define STEPCAST_TELL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STEPCAST_TELL_THREAD_SANITIZER 1
#endif
#endif

#if STEPCAST_TELL_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* at);
void __tsan_release(void* at);
}
#endif

namespace stepcast::calibrate {

/// Calls run(0) to run(count - 1), as many at a time as there are cores or a tbb::global_control allows. What happens
/// before is done when they start, and they are done when this returns. An exception of one of them is thrown on.
template <class Run>
void in_parallel(std::size_t count, const Run& run) {
#if STEPCAST_TELL_THREAD_SANITIZER
  static char begun, done;
  __tsan_release(&begun);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    __tsan_acquire(&begun);
    run(i);
    __tsan_release(&done);
  });
  __tsan_acquire(&done);
#else
  oneapi::tbb::parallel_for(std::size_t{0}, count, run);
#endif
}

}  // namespace stepcast::calibrate
