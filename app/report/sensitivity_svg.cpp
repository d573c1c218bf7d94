#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/report/sensitivity_report.h"
#include "app/report/xml_text.h"
#include "sim/units_text.h"

namespace stepcast::app {

std::string sensitivity_svg(const SensitivityReport& report) {
  constexpr double kBarsLeft = 150, kBarsTop = 66, kBarHeight = 18, kBarPitch = 26, kBarsWidth = 420, kBarsMargin = 105;
  const search::Sensitivity& s = report.sensitivity;
  double longest = 0.01;
  for (const search::ResourceEffect& each : s.effects) longest = std::max(longest, std::abs(each.elasticity.central));
  const double height = kBarsTop + static_cast<double>(s.effects.size()) * kBarPitch + 20,
               width = kBarsLeft + kBarsWidth + kBarsMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n"
      "<text x=\"20\" y=\"26\" font-size=\"15\">{2}</text>\n"
      "<text x=\"20\" y=\"46\">by so many % the step of {3} gets shorter where a resource gets 1% better</text>\n",
      width, height, xml_text(report.scenario.name), xml_text(text(s.forecast.step)));
  double y = kBarsTop;
  for (const search::ResourceEffect& each : s.effects) {
    const double gain = -each.elasticity.central, length = kBarsWidth * std::abs(gain) / longest;
    out += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\">{2}</text>"
        "<rect x=\"{3:.1f}\" y=\"{4:.1f}\" width=\"{5:.1f}\" height=\"{6:.0f}\" fill=\"{7}\"/>"
        "<text x=\"{8:.1f}\" y=\"{1:.1f}\">{9:.3f}{10}</text>\n",
        kBarsLeft - 8, y + 13, xml_text(each.resource->name), kBarsLeft, y, length, kBarHeight,
        gain < 0 ? "#c0504d" : "#3b528b", kBarsLeft + length + 6, std::abs(gain) < 0.0005 ? 0.0 : gain,
        each.elasticity.kink ? " (kink)" : "");
    y += kBarPitch;
  }
  return out + "</svg>\n";
}

}  // namespace stepcast::app
