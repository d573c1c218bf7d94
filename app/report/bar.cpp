#include "app/report/bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stepcast::app {
namespace {

using schedules::PartGroup;

/// How a group is drawn, by its place in PartGroup.
struct Ink {
  std::string_view name, block, ascii, colour;
};
constexpr std::array<Ink, 3> kInks{
    {{"compute", "█", "#", "34"}, {"communication", "▒", "=", "33"}, {"waiting", "░", ".", "90"}}};
/// The first columns of the last one that a bar reaches into, in eighths.
constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

const Ink& ink(PartGroup group) { return kInks[static_cast<std::size_t>(group)]; }

std::string inked(const Ink& with, const std::string& text, const Terminal& terminal) {
  return terminal.colour && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", with.colour, text) : text;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

double Bar::length() const {
  double sum = 0;
  for (const BarPiece& piece : pieces) sum += std::max(piece.length, 0.0);
  return sum;
}

Bar plain_bar(double length) { return {{{length, PartGroup::compute}}}; }

Bar step_bar(std::span<const schedules::StageReport> stages) {
  Bar bar;
  for (const PartGroup group : {PartGroup::compute, PartGroup::communication, PartGroup::waiting}) {
    double seconds = 0;
    for (const schedules::StageReport& stage : stages)
      for (const schedules::TimePart& part : schedules::kTimeParts)
        if (part.group == group) seconds += to_seconds(stage.time.*part.time);
    bar.pieces.push_back({seconds / static_cast<double>(stages.size()), group});
  }
  return bar;
}

std::string bar_text(const Bar& bar, double longest, std::size_t columns, const Terminal& terminal) {
  std::string out;
  std::size_t drawn = 0;
  double end = 0;
  if (longest > 0)
    for (const BarPiece& piece : bar.pieces) {
      end += std::max(piece.length, 0.0) / longest * static_cast<double>(columns);
      const bool finely = terminal.blocks && bar.pieces.size() == 1;
      const double reached = finely ? std::round(end * 8) / 8 : std::round(end);
      const auto whole = std::clamp(static_cast<std::size_t>(reached), drawn, columns);
      const auto eighths = whole == columns ? 0 : static_cast<std::size_t>((reached - std::floor(reached)) * 8);
      std::string text = repeated(terminal.blocks ? ink(piece.group).block : ink(piece.group).ascii, whole - drawn);
      drawn = whole;
      if (eighths > 0) text += kEighths[eighths], ++drawn;
      out += inked(ink(piece.group), text, terminal);
    }
  return out + std::string(columns - drawn, ' ');
}

std::string bar_legend(const Terminal& terminal) {
  std::string out;
  for (const Ink& each : kInks)
    out += fmt::format("{}{} {}", out.empty() ? "" : "  ",
                       inked(each, std::string(terminal.blocks ? each.block : each.ascii), terminal), each.name);
  return out;
}

}  // namespace stepcast::app
