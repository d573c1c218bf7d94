#include "app/report/schedule_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "app/report/xml_text.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using schedules::Forecast;
using schedules::Pass;
using schedules::PassKind;
using schedules::PassSpan;

/// How a kind of box looks: its letter, its background in a terminal (SGR code), its fill on a page.
struct Look {
  char letter;
  int background;
  std::string_view fill, meaning;
};
constexpr Look kForward{'F', 44, "#7aa6d8", "forward"}, kBackward{'B', 42, "#86b875", "backward"},
    kWeight{'W', 43, "#e3c15b", "gradients of weights"}, kBoth{'&', 46, "#7aa6d8", "forward and backward at once"},
    kOptimizer{'O', 45, "#b08cc0", "optimizer"};

const Look& look(PassKind kind) {
  return kind == PassKind::forward ? kForward : kind == PassKind::weight ? kWeight : kBackward;
}
const Look& look(const PassSpan& span) { return !span.pass ? kOptimizer : span.beside ? kBoth : look(span.pass->kind); }

bool has_virtual_stages(const Forecast& f) {
  return std::ranges::any_of(f.passes, [](const PassSpan& span) { return span.pass && span.pass->virtual_stage > 0; });
}

class Namer {
 public:
  explicit Namer(const Forecast& f) : virtual_stages_(has_virtual_stages(f)) {}
  std::string operator()(const PassSpan& span) const {
    if (!span.pass) return "O";
    return span.beside ? name(*span.pass) + "&" + name(*span.beside) : name(*span.pass);
  }
  std::string name(const Pass& pass) const {
    std::string text = fmt::format("{}{}", look(pass.kind).letter, index(pass.micro_batch));
    if (virtual_stages_) text += virtual_stage(pass.virtual_stage);
    return text;
  }

 private:
  static std::string virtual_stage(std::uint32_t v) {
    return v < 26 ? std::string(1, static_cast<char>('a' + static_cast<int>(v))) : fmt::format(".{}", v);
  }
  bool virtual_stages_;
};

/// The passes of each stage.
std::vector<std::span<const PassSpan>> by_stage(const Forecast& f) {
  std::vector<std::span<const PassSpan>> stages(f.stages.size());
  for (auto first = f.passes.begin(); first != f.passes.end();) {
    const auto last = std::find_if(first, f.passes.end(), [&](const PassSpan& p) { return p.stage != first->stage; });
    stages[first->stage] = {first, last};
    first = last;
  }
  return stages;
}

/// A pass in the columns from `first` up to `end`, its name in front.
std::string box(const PassSpan& span, const Namer& name, std::size_t columns, bool colour) {
  std::string text = name(span);
  if (text.size() > columns) text = std::string(1, look(span).letter);
  text.resize(columns, '-');
  return colour ? fmt::format("\x1b[30;{}m{}\x1b[0m", look(span).background, text) : text;
}

std::string row(std::span<const PassSpan> passes, const Namer& name, Time step, std::size_t columns, bool colour) {
  // The first column whose middle is at `time` or later.
  const auto column = [&](Time time) {
    const double at = time / step * static_cast<double>(columns) + 0.5;
    return std::min(static_cast<std::size_t>(std::max(at, 0.0)), columns);
  };
  std::string line;
  std::size_t now = 0;
  for (const PassSpan& span : passes) {
    const std::size_t first = std::max(column(span.start), now), end = column(span.start + span.duration);
    if (end <= first) continue;  // between two middles
    line.append(first - now, '.');
    line += box(span, name, end - first, colour);
    now = end;
  }
  line.append(columns - now, '.');
  return line;
}

/// 1, 2 or 5 times a power of ten picoseconds, so that at most ten make `step`.
Time tick(Time step) {
  for (std::int64_t power = 1;; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (factor * power * 10 >= step.value) return {factor * power};
}

}  // namespace

std::string schedule_text(const Forecast& f, Terminal terminal) {
  const Namer name(f);
  const std::size_t digits = std::to_string(f.stages.size() - 1).size(), margin = 6 + digits + 3;
  const std::size_t columns = std::max<std::size_t>(terminal.width, 40) - margin;
  std::string out;
  const auto stages = by_stage(f);
  for (std::size_t s = 0; s < stages.size(); ++s)
    out += fmt::format("stage {:>{}} |{}|\n", s, digits, row(stages[s], name, f.step, columns, terminal.colour));
  const std::string end = text(f.step);
  return out + fmt::format("{:{}}0{:>{}}\n", "", margin - 2, end, columns);
}

std::string schedule_svg(const Forecast& f, const std::string& title) {
  constexpr double kLeft = 70, kTop = 40, kWidth = 1200, kRow = 24, kGap = 4, kRight = 20, kBottom = 60;
  const Namer name(f);
  const auto stages = by_stage(f);
  const double bottom = kTop + (kRow + kGap) * static_cast<double>(stages.size());
  const auto x = [&](Time time) { return kLeft + kWidth * (time / f.step); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3}</text>\n",
      kLeft + kWidth + kRight, bottom + kBottom, kLeft, xml_text(title));
  const auto draw = [&](const Look& look, const std::string& label, double left, double width, double top,
                        double height) {
    constexpr double kNarrow = 2;  // a border would hide it
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"{}><title>{}</title></rect>\n",
        left, top, width, height, look.fill, width < kNarrow ? "" : " stroke=\"white\" stroke-width=\"0.5\"", label);
    if (width > 6.5 * static_cast<double>(label.size()) && height >= 11)
      out += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", left + width / 2,
                         top + height / 2 + 4, label);
  };
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double top = kTop + (kRow + kGap) * static_cast<double>(s);
    out += fmt::format(
        "<text x=\"{0}\" y=\"{1:.1f}\" text-anchor=\"end\">stage {2}</text>"
        "<rect x=\"{3}\" y=\"{4:.1f}\" width=\"{5}\" height=\"{6}\" fill=\"#f0f0f0\"/>\n",
        kLeft - 8, top + kRow / 2 + 4, s, kLeft, top, kWidth, kRow);
    for (const PassSpan& span : stages[s]) {
      const double left = x(span.start), width = x(span.start + span.duration) - left;
      if (span.beside) {  // one above the other: they share the time
        draw(kForward, name.name(*span.pass), left, width, top, kRow / 2);
        draw(kBackward, name.name(*span.beside), left, width, top + kRow / 2, kRow / 2);
      } else {
        draw(look(span), name(span), left, width, top, kRow);
      }
    }
  }
  for (Time at{}; at <= f.step; at += tick(f.step))
    out += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#999\"/>"
        "<text x=\"{0:.2f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        x(at), bottom, bottom + 5, bottom + 18, at == Time{} ? "0" : text(at));
  double left = kLeft;
  for (const Look* look : {&kForward, &kBackward, &kWeight, &kOptimizer}) {
    out += fmt::format(
        "<rect x=\"{0}\" y=\"{1:.1f}\" width=\"12\" height=\"12\" fill=\"{2}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\">{5}</text>"
        "\n",
        left, bottom + 32, look->fill, left + 17, bottom + 42, look->meaning);
    left += 40 + 7 * static_cast<double>(look->meaning.size());
  }
  return out + "</svg>\n";
}

}  // namespace stepcast::app
