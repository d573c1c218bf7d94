#pragma once

#include <string>

namespace stepcast::app {

/// An SVG page as a PNG picture, twice as many pixels each way as the page has, through librsvg and cairo. Throws
/// std::runtime_error with what these say.
std::string png_of(const std::string& svg);

/// The picture that a file's name asks for: svg as it is for .svg, as PNG for .png. Throws InputError naming `flag` for
/// any other name.
std::string picture(const std::string& svg, const std::string& file, const std::string& flag);

}  // namespace stepcast::app
