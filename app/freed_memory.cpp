#include "app/freed_memory.h"

#include <malloc.h>

namespace stepcast::app {

void keep_freed_memory() {
  constexpr int kKept = 1 << 28;
  mallopt(M_MMAP_THRESHOLD, kKept);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace stepcast::app
