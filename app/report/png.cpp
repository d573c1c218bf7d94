#include "app/report/png.h"

#include <stdexcept>

#include "app/modules/module.h"
#include "app/png_module/svg_to_png.h"
#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

decltype(&stepcast_svg_to_png) load_module() {
  std::string error;
  void* const function = function_of_module("stepcast-png", "stepcast_svg_to_png", error);
  if (function == nullptr)
    throw std::runtime_error("PNG drawings need a part of stepcast that cannot be loaded (" + error +
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
