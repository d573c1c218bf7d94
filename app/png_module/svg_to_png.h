#pragma once

#include <string>

/// The one function of the module stepcast-png, a shared object of its own because librsvg brings forty others, whose
/// loading takes longer than all else at start-up. app/report/png.cpp loads it when a PNG is asked for.
///
/// Draws an SVG page as a PNG picture, twice as many pixels each way as the page has. Returns whether that went well;
/// if not, `error` is what librsvg or cairo says.
extern "C" bool stepcast_svg_to_png(const std::string& svg, std::string& png, std::string& error);
