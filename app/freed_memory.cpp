#include "app/freed_memory.h"

#include <malloc.h>

/// The same for jemalloc, which reads it at start-up where the program is linked with it (cmake/Allocator.cmake): what
/// has been free for some seconds the system may take where memory is short, but until then it stays. Memory comes in
/// pages of 2 MiB where the system has them: of a large step most time went to the first touch of each 4 KiB.
extern "C" const char* malloc_conf;
const char* malloc_conf = "muzzy_decay_ms:-1,oversize_threshold:0,thp:always,metadata_thp:auto";

namespace stepcast::app {

void keep_freed_memory() {
  constexpr int kKept = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace stepcast::app
