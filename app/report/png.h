#pragma once

#include <string>

namespace stepcast::app {

/// An SVG page as a PNG picture, twice as many pixels each way as the page has, through librsvg and cairo. Throws
/// std::runtime_error with what these say, or that the module app/png_module cannot be loaded.
std::string png_of(const std::string& svg);

/// The picture that a file's name asks for: as PNG for .png, else svg as it is.
std::string picture(const std::string& svg, const std::string& file);

/// Throws InputError naming `flag` for a name that does not say which picture it asks for: neither .svg nor .png nor a
/// stream (standard output, a pipe), which gets SVG.
void check_picture(const std::string& file, const std::string& flag);

}  // namespace stepcast::app
