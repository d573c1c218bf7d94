#include "app/modules/mpi_launcher.h"

#include <cstdlib>
#include <initializer_list>

namespace stepcast::app {
namespace {

/// How many processes there are, where the launcher says so.
const char* launched_processes() {
  for (const char* const count : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const text = std::getenv(count)) return text;
  return nullptr;
}

bool has_pmix_rank() { return std::getenv("PMIX_RANK") != nullptr; }

}  // namespace

bool is_launched_by_mpi() { return launched_processes() != nullptr || has_pmix_rank(); }

bool is_launched_with_others() {
  const char* const count = launched_processes();
  return count != nullptr ? std::atoi(count) > 1 : has_pmix_rank();
}

}  // namespace stepcast::app
