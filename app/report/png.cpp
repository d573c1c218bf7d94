#include "app/report/png.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "app/png_module/svg_to_png.h"
#include "language/core/streams.h"
#include "language/core/this_program.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "lib/stepcast/stepcast-png.so";

/// Beside the program as it is built, or one folder up: as it is installed, and for programs of tests.
fs::path module_file() {
  const fs::path folder = language::this_program().parent_path();
  std::error_code error;
  fs::path built = folder / kModule;
  return fs::exists(built, error) ? built : folder.parent_path() / kModule;
}

/// Loads the module, which stays until the program ends: what it brings is not made to be taken away again.
decltype(&stepcast_svg_to_png) load_module() {
  const fs::path file = module_file();
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = module == nullptr ? nullptr : dlsym(module, "stepcast_svg_to_png");
  if (function == nullptr)
    throw std::runtime_error("PNG drawings need a part of stepcast that cannot be loaded (" + std::string(dlerror()) +
                             "); a name that ends with .svg needs none");
  return reinterpret_cast<decltype(&stepcast_svg_to_png)>(function);
}

}  // namespace

std::string png_of(const std::string& svg) {
  static const auto svg_to_png = load_module();
  std::string png, error;
  if (!svg_to_png(svg, png, error)) throw std::runtime_error(error);
  return png;
}

std::string picture(const std::string& svg, const std::string& file) {
  return file.ends_with(".png") ? png_of(svg) : svg;
}

void check_picture(const std::string& file, const std::string& flag) {
  if (file.ends_with(".svg") || file.ends_with(".png") || language::is_stream(language::output_named(file))) return;
  throw InputError(flag, "found '" + file + "', expected a name that ends with .svg or .png");
}

}  // namespace stepcast::app
