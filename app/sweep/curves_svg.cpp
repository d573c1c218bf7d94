#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/report/figure.h"
#include "app/report/xml_text.h"
#include "app/sweep/plot.h"

namespace stepcast::app {
namespace {

constexpr double kWidth = 875, kHeight = 460, kLeft = 90, kRight = 215, kTop = 50, kBottom = 64;
constexpr double kFarApart = 8;  // a ratio from which on an axis is one of ratios
constexpr std::array kSeriesColours = {"#1b6ca8", "#c4452d", "#3c8d40", "#8a5aa6", "#b8860b", "#2b8c8c",
                                       "#d36ba6", "#555555", "#7a9a01", "#a0522d", "#4b0082", "#e07b00"};

/// Names, and numbers that do not rise, have no order that a curve could follow: they have bars.
bool of_names(const PlotAxis& axis) { return axis.places.size() != axis.labels.size(); }

/// How wide the bars of one name are together.
double bars_width(const PlotAxis& axis) {
  return 0.7 * (kWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(axis.labels.size(), 1));
}

/// Where on the page each value of x stands: by its number, by its ratio to the others, or evenly.
std::vector<double> places_on_page(const PlotAxis& axis) {
  const std::size_t count = axis.labels.size();
  if (of_names(axis)) {
    std::vector<double> middles;
    for (std::size_t i = 0; i < count; ++i)
      middles.push_back(kLeft +
                        (kWidth - kLeft - kRight) * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    return middles;
  }
  const bool numbers = axis.places.size() == count && count > 1 && axis.places.front() < axis.places.back();
  const bool ratios = numbers && axis.places.front() > 0 && axis.places.back() / axis.places.front() >= kFarApart;
  std::vector<double> places;
  for (std::size_t i = 0; i < count; ++i) {
    double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5;
    if (ratios)
      share = std::log(axis.places[i] / axis.places.front()) / std::log(axis.places.back() / axis.places.front());
    else if (numbers)
      share = (axis.places[i] - axis.places.front()) / (axis.places.back() - axis.places.front());
    places.push_back(kLeft + 20 + (kWidth - kLeft - kRight - 40) * share);
  }
  return places;
}

/// Lines across the page at round values from nothing to above the most.
struct Upward {
  double step = 1;
  int lines = 1;
  double y(double value) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * value / (step * lines); }
};

Upward upward(const SweepPlot& plot) {
  double most = 0;
  for (const PlotCell& cell : plot.cells) most = std::max(most, cell.value.value_or(0));
  if (most <= 0) return {};
  double unit = 1;  // bytes are told in KiB, MiB, GiB, so that is what is round
  while (plot.quantity->unit == schedules::Unit::bytes && unit * 1024 <= most) unit *= 1024;
  const double power = unit * std::pow(10, std::floor(std::log10(most / unit / 4)));
  for (const double round : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (most <= round * power * 6) return {round * power, static_cast<int>(std::ceil(most / (round * power)))};
  return {10 * power, 6};
}

/// Labels of x where they do not run into each other.
std::string x_labels(const PlotAxis& axis, const std::vector<double>& places) {
  constexpr double kLetterWidth = 7.2;
  std::string out;
  double free_from = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double half = kLetterWidth * static_cast<double>(axis.labels[i].size()) / 2;
    if (places[i] - half < free_from) continue;
    free_from = places[i] + half + 6;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", places[i],
                       kHeight - kBottom + 20, xml_text(axis.labels[i]));
  }
  return out + fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                           (kLeft + kWidth - kRight) / 2, kHeight - kBottom + 42, xml_text(axis.title));
}

std::string cross(double x, std::size_t line, const char* colour) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"{}\">&#215;</text>\n", x,
                     kHeight - kBottom - 4.0 - 9.0 * static_cast<double>(line % 8), colour);
}

/// A bar for each name, those of several series beside each other; what it says stands on it where there is one series.
std::string bars_svg(const SweepPlot& plot, std::size_t line, const std::vector<double>& places, const Upward& up) {
  const char* const colour = kSeriesColours[line % kSeriesColours.size()];
  const std::size_t series = plot.y ? plot.y->labels.size() : 1;
  const double wide = bars_width(plot.x) / static_cast<double>(series);
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlotCell& cell = plot.at(i, line);
    const double left = places[i] - bars_width(plot.x) / 2 + wide * static_cast<double>(line);
    if (cell.value) {
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
                         up.y(*cell.value), std::max(wide - 1, 0.5), up.y(0) - up.y(*cell.value), colour);
      if (series == 1)
        out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", places[i],
                           up.y(*cell.value) - 5, xml_text(text(Figure(*cell.value), plot.quantity->unit)));
    } else if (cell.does_not_fit) {
      out += cross(left + wide / 2, 0, colour);
    }
  }
  return out;
}

/// One curve, with a gap where there is no value and a cross below where a plan does not fit.
std::string series_svg(const SweepPlot& plot, std::size_t line, const std::vector<double>& places, const Upward& up) {
  const char* const colour = kSeriesColours[line % kSeriesColours.size()];
  std::string path, marks;
  bool drawing = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlotCell& cell = plot.at(i, line);
    if (cell.value) {
      path += fmt::format("{}{:.1f} {:.1f} ", drawing ? "L" : "M", places[i], up.y(*cell.value));
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", places[i],
                           up.y(*cell.value), colour);
    } else if (cell.does_not_fit) {
      marks += cross(places[i], line, colour);
    }
    drawing = cell.value.has_value();
  }
  if (!path.empty())
    path = fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, colour);
  return path + marks;
}

std::string legend(const SweepPlot& plot) {
  const bool crosses =
      std::ranges::any_of(plot.cells, [](const PlotCell& cell) { return !cell.value && cell.does_not_fit; });
  std::string out;
  double y = kTop + 12;
  const double x = kWidth - kRight + 22;
  if (plot.y) {
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x - 4, y + 4, xml_text(plot.y->title));
    for (std::size_t line = 0; line < plot.y->labels.size(); ++line) {
      y += 18;
      out +=
          fmt::format("<circle cx=\"{0}\" cy=\"{1}\" r=\"4\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}</text>\n", x,
                      y, kSeriesColours[line % kSeriesColours.size()], x + 12, y + 4, xml_text(plot.y->labels[line]));
    }
    y += 18;
  }
  if (crosses) out += fmt::format("<text x=\"{}\" y=\"{}\">&#215; does not fit in memory</text>\n", x - 4, y + 4);
  return out;
}

}  // namespace

std::string curves_svg(const SweepPlot& plot) {
  const std::vector<double> places = places_on_page(plot.x);
  const Upward up = upward(plot);
  const double height = std::max(kHeight, kTop + 60 + 18.0 * static_cast<double>(plot.y ? plot.y->labels.size() : 0));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"20\" y=\"26\" font-size=\"15\">{2}</text>\n",
      kWidth, height, xml_text(plot.title));
  for (int i = 0; i <= up.lines; ++i) {
    const double value = up.step * i;
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>"
        "<text x=\"{4}\" y=\"{5:.1f}\" text-anchor=\"end\">{6}</text>\n",
        kLeft, kWidth - kRight, up.y(value), i == 0 ? "#666" : "#ddd", kLeft - 8, up.y(value) + 4,
        i == 0 ? "0" : xml_text(text(Figure(value), plot.quantity->unit)));
  }
  out += x_labels(plot.x, places);
  for (std::size_t line = 0; line < (plot.y ? plot.y->labels.size() : 1); ++line)
    out += of_names(plot.x) ? bars_svg(plot, line, places, up) : series_svg(plot, line, places, up);
  return out + legend(plot) + "</svg>\n";
}

}  // namespace stepcast::app
