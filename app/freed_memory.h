#pragma once

namespace stepcast::app {

/// From here on the process keeps memory that it has freed. A plan takes and gives back some megabytes: where there are
/// many, the C library would ask the system for them anew each time, which takes a fifth of all time. (jemalloc, with
/// which the program is linked where it is found, keeps freed memory for some seconds by itself.)
void keep_freed_memory();

}  // namespace stepcast::app
