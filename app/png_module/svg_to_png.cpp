#include "app/png_module/svg_to_png.h"

#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

namespace {

constexpr double kScale = 2;

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};

cairo_status_t append(void* to, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string said_by_librsvg(GError* error) {
  const std::string what = error == nullptr ? "unknown error" : error->message;
  g_clear_error(&error);
  return "librsvg: " + what;
}

}  // namespace

bool stepcast_svg_to_png(const std::string& svg, std::string& png, std::string& error) {
  GError* said = nullptr;
  const std::unique_ptr<RsvgHandle, Freed<g_object_unref>> page(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &said));
  if (!page) {
    error = said_by_librsvg(said);
    return false;
  }
  double width = 0, height = 0;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(page.get(), &width, &height)) {
    error = "librsvg: the page has no size in pixels";
    return false;
  }
  const std::unique_ptr<cairo_surface_t, Freed<cairo_surface_destroy>> surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(std::ceil(width * kScale)), static_cast<int>(std::ceil(height * kScale))));
  const std::unique_ptr<cairo_t, Freed<cairo_destroy>> cairo(cairo_create(surface.get()));
  cairo_scale(cairo.get(), kScale, kScale);
  const RsvgRectangle area{0, 0, width, height};
  if (!rsvg_handle_render_document(page.get(), cairo.get(), &area, &said)) {
    error = said_by_librsvg(said);
    return false;
  }
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS) error = std::string("cairo: ") + cairo_status_to_string(status);
  return status == CAIRO_STATUS_SUCCESS;
}
