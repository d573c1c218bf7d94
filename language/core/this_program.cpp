#include "language/core/this_program.h"

#include <sys/auxv.h>

namespace stepcast::language {

std::filesystem::path this_program() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), error) : program;
}

}  // namespace stepcast::language
