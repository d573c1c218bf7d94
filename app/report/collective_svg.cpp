#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/report/collective_report.h"
#include "app/report/xml_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

constexpr double kWidth = 875, kHeight = 460, kLeft = 70, kRight = 215, kTop = 40, kBottom = 50;
constexpr std::array kColours = {"#1b6ca8", "#c4452d", "#3c8d40", "#8a5aa6", "#b8860b", "#2b8c8c", "#d36ba6",
                                 "#555555", "#7a9a01", "#a0522d", "#4b0082", "#008b8b", "#e07b00", "#00a86b",
                                 "#9e1b32", "#5b7fff", "#c0a000", "#80604d", "#ff6f91", "#2f4f4f"};

struct PlottedCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // bytes, GB/s
  bool dashed = false;
};

std::vector<PlottedCurve> curves_of(const CollectiveReport& report) {
  const bool one_per_size = std::ranges::adjacent_find(report.rows, {}, &CollectiveResult::size) == report.rows.end();
  std::vector<PlottedCurve> curves;
  const auto add = [&](const std::string& name, bool dashed, const CollectiveResult& row) {
    if (row.size.value <= 0) return;
    auto at = std::ranges::find(curves, name, &PlottedCurve::name);
    if (at == curves.end()) {
      curves.push_back({name, {}, dashed});
      at = curves.end() - 1;
    }
    at->points.emplace_back(static_cast<double>(row.size.value), busbw_GBps(report, row));
  };
  for (const CollectiveResult& row : report.rows) {
    add(one_per_size ? "predicted" : row.algorithm, false, row);
    if (!row.measured) continue;
    CollectiveResult seen = row;
    seen.time = *row.measured;
    add("measured", true, seen);
  }
  return curves;
}

/// 1, 2 or 5 times a power of ten, so that at most about six make `most`.
double nice_step(double most) {
  const double raw = std::max(most, 1e-9) / 6, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string collective_svg(const CollectiveReport& report) {
  const std::vector<PlottedCurve> curves = curves_of(report);
  double least = 1e300, most = 1, highest = 1e-9;
  for (const PlottedCurve& curve : curves) {
    for (const auto& [bytes, rate] : curve.points) {
      least = std::min(least, bytes);
      most = std::max(most, bytes);
      highest = std::max(highest, rate);
    }
  }
  least = std::min(least, most / 2);
  const double step = nice_step(highest), top = std::ceil(highest / step) * step;
  const auto x = [&](double bytes) {
    return kLeft + (kWidth - kLeft - kRight) * std::log2(bytes / least) / std::log2(most / least);
  };
  const auto y = [&](double rate) { return kHeight - kBottom - (kHeight - kTop - kBottom) * rate / top; };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3} over {4} GPUs: busbw, GB/s</text>\n",
      kWidth, kHeight, kLeft, collectives::name(report.operation), report.ranks);
  for (double rate = 0; rate <= top + step / 2; rate += step) {
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        kLeft, kWidth - kRight, y(rate), kLeft - 8, y(rate) + 4, rate);
  }
  const double octaves = std::max(1.0, std::ceil(std::log2(most / least) / 8));
  for (double bytes = least; bytes <= most * 1.001; bytes *= std::pow(2, octaves)) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(bytes),
                       kHeight - kBottom + 20, text(Bytes{std::llround(bytes)}));
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char* colour = kColours[c % kColours.size()];
    std::string points;
    for (const auto& [bytes, rate] : curves[c].points) points += fmt::format("{:.1f},{:.1f} ", x(bytes), y(rate));
    const char* dash = curves[c].dashed ? " stroke-dasharray=\"5 4\"" : "";
    const double at = kTop + 12 + 18 * static_cast<double>(c);
    out += fmt::format("<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"2\"{1} points=\"{2}\"/>\n", colour, dash,
                       points);
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"{4}/>"
        "<text x=\"{5}\" y=\"{6}\">{7}</text>\n",
        kWidth - kRight + 12, kWidth - kRight + 34, at, colour, dash, kWidth - kRight + 40, at + 4,
        xml_text(curves[c].name));
  }
  return out + "</svg>\n";
}

}  // namespace stepcast::app
