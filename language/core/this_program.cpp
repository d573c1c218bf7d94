#include "language/core/this_program.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <string_view>

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

/// The shared object that holds this function; empty: the program itself does, which the loader has no name for.
std::string_view shared_object() {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&shared_object), &info, &found, RTLD_DL_LINKMAP) == 0) return {};
  return static_cast<const link_map*>(found)->l_name;
}

}  // namespace

fs::path this_program() {
  std::error_code error;
  if (const std::string_view object = shared_object(); !object.empty()) return fs::canonical(object, error);
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), error) : program;
}

}  // namespace stepcast::language
