#include "app/report/png.h"

#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr double kScale = 2;

template <auto free>
struct Free {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};

cairo_status_t append(void* to, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

[[noreturn]] void give_up(GError* error) {
  const std::string what = error == nullptr ? "unknown error" : error->message;
  g_clear_error(&error);
  throw std::runtime_error("librsvg: " + what);
}

}  // namespace

std::string png_of(const std::string& svg) {
  GError* error = nullptr;
  const std::unique_ptr<RsvgHandle, Free<g_object_unref>> page(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!page) give_up(error);
  double width = 0, height = 0;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(page.get(), &width, &height)) {
    throw std::runtime_error("librsvg: the page has no size in pixels");
  }
  const std::unique_ptr<cairo_surface_t, Free<cairo_surface_destroy>> surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(std::ceil(width * kScale)), static_cast<int>(std::ceil(height * kScale))));
  const std::unique_ptr<cairo_t, Free<cairo_destroy>> cairo(cairo_create(surface.get()));
  cairo_scale(cairo.get(), kScale, kScale);
  const RsvgRectangle area{0, 0, width, height};
  if (!rsvg_handle_render_document(page.get(), cairo.get(), &area, &error)) give_up(error);
  std::string png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS) throw std::runtime_error(std::string("cairo: ") + cairo_status_to_string(status));
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
