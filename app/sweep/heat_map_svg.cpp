#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/report/figure.h"
#include "app/report/xml_text.h"
#include "app/sweep/plot.h"

namespace stepcast::app {
namespace {

constexpr double kCellHeight = 34, kMapTop = 66, kLetter = 7.2, kScaleWidth = 150;

using Colour = std::array<double, 3>;

/// Five colours of viridis (van der Walt and Smith, matplotlib 2.0), which stay in order in print and for the
/// colour-blind.
constexpr std::array<Colour, 5> kViridis = {Colour{68, 1, 84}, Colour{59, 82, 139}, Colour{33, 145, 140},
                                            Colour{94, 201, 98}, Colour{253, 231, 37}};

Colour colour_at(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  Colour out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = kViridis[below][i] + (kViridis[below + 1][i] - kViridis[below][i]) * (at - static_cast<double>(below));
  return out;
}

std::string hex(const Colour& c) {
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(c[0]), std::lround(c[1]), std::lround(c[2]));
}

/// Relative luminance (ITU-R BT.709 weights): what is lighter takes black letters.
bool is_light(const Colour& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] > 127; }

/// From the least value to the most, by ratio where they are far apart.
class ValueScale {
 public:
  explicit ValueScale(const SweepPlot& plot) {
    for (const PlotCell& cell : plot.cells) {
      if (!cell.value) continue;
      least_ = any_ ? std::min(least_, *cell.value) : *cell.value;
      most_ = any_ ? std::max(most_, *cell.value) : *cell.value;
      any_ = true;
    }
    ratio_ = any_ && least_ > 0 && most_ / least_ > 8;
  }
  double share(double value) const {
    if (most_ <= least_) return 0.5;
    return ratio_ ? std::log(value / least_) / std::log(most_ / least_) : (value - least_) / (most_ - least_);
  }
  bool any() const { return any_; }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  double least_ = 0, most_ = 0;
  bool any_ = false, ratio_ = false;
};

std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& each : texts) most = std::max(most, each.size());
  return most;
}

std::string cell_svg(const SweepPlot& plot, const PlotCell& cell, const ValueScale& scale, double x, double y,
                     double width) {
  const Colour colour = cell.value ? colour_at(scale.share(*cell.value)) : Colour{235, 235, 235};
  const std::string label = cell.value          ? text(Figure(*cell.value), plot.quantity->unit)
                            : cell.does_not_fit ? "too large"
                                                : "-";
  return fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3}\" fill=\"{4}\" stroke=\"white\"/>"
      "<text x=\"{5:.1f}\" y=\"{6:.1f}\" text-anchor=\"middle\" fill=\"{7}\">{8}</text>\n",
      x, y, width, kCellHeight, hex(colour), x + width / 2, y + kCellHeight / 2 + 4,
      !cell.value        ? "#777"
      : is_light(colour) ? "black"
                         : "white",
      xml_text(label));
}

std::string scale_svg(const SweepPlot& plot, const ValueScale& scale, double x, double y) {
  if (!scale.any()) return {};
  std::string out;
  constexpr int kSteps = 50;
  for (int i = 0; i < kSteps; ++i)
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"10\" fill=\"{}\"/>\n",
                       x + i * kScaleWidth / kSteps, y, kScaleWidth / kSteps + 0.5, hex(colour_at((i + 0.5) / kSteps)));
  return out + fmt::format(
                   "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\">{2}</text>"
                   "<text x=\"{3:.1f}\" y=\"{1:.1f}\">{4}</text>\n",
                   x - 6, y + 9, xml_text(text(Figure(scale.least()), plot.quantity->unit)), x + kScaleWidth + 6,
                   xml_text(text(Figure(scale.most()), plot.quantity->unit)));
}

}  // namespace

std::string heat_map_svg(const SweepPlot& plot) {
  const ValueScale scale(plot);
  const auto columns = static_cast<double>(plot.x.labels.size()), lines = static_cast<double>(plot.y->labels.size());
  const double cell = std::max(76.0, kLetter * static_cast<double>(longest(plot.x.labels)) + 12);
  const double left = std::max(70.0, kLetter * static_cast<double>(longest(plot.y->labels)) + 20);
  const double bottom = kMapTop + lines * kCellHeight,
               titles = kLetter * static_cast<double>(std::max(plot.title.size() * 9 / 8, plot.y->title.size()));
  const double width = std::max({left + columns * cell + 20, titles + 40, left + kScaleWidth + 180});
  const double height = bottom + 84;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n"
      "<text x=\"20\" y=\"26\" font-size=\"15\">{2}</text>\n<text x=\"20\" y=\"{3}\">{4}</text>\n",
      width, height, xml_text(plot.title), kMapTop - 14, xml_text(plot.y->title));
  for (std::size_t line = 0; line < plot.y->labels.size(); ++line) {
    const double y = kMapTop + static_cast<double>(line) * kCellHeight;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8,
                       y + kCellHeight / 2 + 4, xml_text(plot.y->labels[line]));
    for (std::size_t column = 0; column < plot.x.labels.size(); ++column)
      out += cell_svg(plot, plot.at(column, line), scale, left + static_cast<double>(column) * cell, y, cell);
  }
  for (std::size_t column = 0; column < plot.x.labels.size(); ++column)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       left + (static_cast<double>(column) + 0.5) * cell, bottom + 18, xml_text(plot.x.labels[column]));
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", left + columns * cell / 2,
                     bottom + 38, xml_text(plot.x.title));
  return out + scale_svg(plot, scale, left + 60, bottom + 56) + "</svg>\n";
}

}  // namespace stepcast::app
