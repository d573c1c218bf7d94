#include "app/modules/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "language/core/this_program.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

/// Beside the program as it is built, or one folder up: as it is installed, and for programs of tests.
fs::path module_file(const std::string& module) {
  const fs::path folder = language::this_program().parent_path(), file = "lib/stepcast/" + module + ".so";
  std::error_code error;
  fs::path built = folder / file;
  return fs::exists(built, error) ? built : folder.parent_path() / file;
}

}  // namespace

void* function_of_module(const std::string& module, const char* function, std::string& error) {
  void* const loaded = dlopen(module_file(module).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function);
  if (found == nullptr) error = dlerror();
  return found;
}

}  // namespace stepcast::app
