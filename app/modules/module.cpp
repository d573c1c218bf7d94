#include "app/modules/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "language/core/this_program.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

/// Below the program's folder, as it is built, or one above it: as it is installed, for programs of tests, and for
/// Python's module.
fs::path module_file(const std::string& module) {
  const fs::path home = language::this_program().parent_path(), file = "lib/stepcast/" + module + ".so";
  std::error_code error;
  for (fs::path folder = home;; folder = folder.parent_path()) {
    if (fs::exists(folder / file, error)) return folder / file;
    if (folder == folder.parent_path()) return home / file;
  }
}

}  // namespace

void* function_of_module(const std::string& module, const char* function, std::string& error) {
  void* const loaded = dlopen(module_file(module).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function);
  if (found == nullptr) error = dlerror();
  return found;
}

}  // namespace stepcast::app
