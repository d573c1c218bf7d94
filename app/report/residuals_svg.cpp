#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/report/calibration.h"
#include "app/report/xml_text.h"

namespace stepcast::app {
namespace {

constexpr double kWidth = 875, kHeight = 460, kLeft = 70, kRight = 215, kTop = 40, kBottom = 50;
constexpr double kMost = 0.5;  // errors beyond are drawn at the edge
constexpr std::array kColours = {"#1b6ca8", "#c4452d", "#3c8d40", "#8a5aa6", "#b8860b", "#2b8c8c", "#d36ba6",
                                 "#555555", "#7a9a01", "#a0522d", "#4b0082", "#008b8b", "#e07b00", "#00a86b"};

double error_of(const calibrate::FittedRow& row) { return row.predicted_s / row.measured_s - 1; }

std::string time_text(int exponent) {
  constexpr std::array kUnits = {"ps", "ns", "us", "ms", "s"};
  const int unit = std::clamp((exponent + 12) / 3, 0, 4);
  return fmt::format("{:g} {}", std::pow(10, exponent + 12 - 3 * unit), kUnits[static_cast<std::size_t>(unit)]);
}

}  // namespace

std::string residuals_svg(const Calibration& calibration) {
  double least = 1e300, most = 1e-12, largest = 0.05;
  for (const calibrate::FittedModel& model : calibration.models) {
    for (const calibrate::FittedRow& row : model.rows) {
      least = std::min(least, row.measured_s);
      most = std::max(most, row.measured_s);
      largest = std::max(largest, std::min(std::abs(error_of(row)), kMost));
    }
  }
  const int first = static_cast<int>(std::floor(std::log10(std::min(least, most)))),
            last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(most))));
  const double top = std::ceil(largest * 20) / 20;
  const auto x = [&](double seconds) {
    return kLeft + (kWidth - kLeft - kRight) * (std::log10(seconds) - first) / (last - first);
  };
  const auto y = [&](double error) {
    return kTop + (kHeight - kTop - kBottom) * (1 - std::clamp(error / top, -1.0, 1.0)) / 2;
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3}: predicted / measured - 1 over measured time</text>\n",
      kWidth, kHeight, kLeft, xml_text(calibration.gpu_file));
  for (int step = -4; step <= 4; ++step) {
    const double error = top * step / 4;
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>"
        "<text x=\"{4}\" y=\"{5:.1f}\" text-anchor=\"end\">{6}</text>\n",
        kLeft, kWidth - kRight, y(error), step == 0 ? "#666" : "#ddd", kLeft - 8, y(error) + 4,
        step == 0 ? "0" : fmt::format("{:+.4g}%", 100 * error));
  }
  for (int decade = first; decade <= last; ++decade) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(std::pow(10, decade)),
                       kHeight - kBottom + 20, time_text(decade));
  }
  std::size_t number = 0;
  for (const calibrate::FittedModel& model : calibration.models) {
    if (model.rows.empty()) continue;
    const char* colour = kColours[number % kColours.size()];
    const double at = kTop + 12 + 18 * static_cast<double>(number++);
    for (const calibrate::FittedRow& row : model.rows) {
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\" fill-opacity=\"0.6\"/>\n",
                         x(row.measured_s), y(error_of(row)), colour);
    }
    out += fmt::format("<circle cx=\"{0}\" cy=\"{1}\" r=\"4\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}</text>\n",
                       kWidth - kRight + 22, at, colour, kWidth - kRight + 34, at + 4, xml_text(model.name));
  }
  return out + "</svg>\n";
}

}  // namespace stepcast::app
