#include "app/report/steps_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "app/report/xml_text.h"

namespace stepcast::app {
namespace {

using collectives::ChunkId;
using collectives::CollectivePlan;
using collectives::Effect;
using collectives::Transfer;
using collectives::TransferId;

constexpr double kLeft = 60, kRight = 40, kTop = 84, kRound = 58, kBottom = 46, kColumn = 96, kLine = 18;

/// The round of each transfer, from 0 on: one after the last of those that it starts after, and after the transfer
/// before it on its connection.
std::vector<std::uint32_t> rounds_of(const CollectivePlan& plan) {
  std::vector<std::uint32_t> round(plan.transfers.size(), 0), connection_free(plan.connections.size(), 0);
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
    std::uint32_t& free = connection_free[collectives::index(plan.transfers[t].connection)];
    round[t] = free;
    for (const TransferId before : plan.after(TransferId{t}))
      round[t] = std::max(round[t], round[collectives::index(before)] + 1);
    free = round[t] + 1;
  }
  return round;
}

/// A round of the picture: arrows, or where these would hide each other a table with a line for each rank that sends.
struct DrawnRound {
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<const Transfer*>>> sent{};  ///< by source, destination
  double top = 0;

  bool is_table() const {
    constexpr std::size_t kFan = 3;
    return std::ranges::count_if(sent, [](const auto& each) { return each.second.size() >= kFan; }) > 1;
  }
  double height() const {
    return is_table() ? std::max(kRound, kLine * (static_cast<double>(sent.size()) + 0.5)) : kRound;
  }
};

/// Those of a plan, from `top` on. `round`: of each transfer.
std::vector<DrawnRound> drawn_rounds(const CollectivePlan& plan, const std::vector<std::uint32_t>& round, double top) {
  std::vector<DrawnRound> rounds;
  if (!round.empty()) rounds.resize(std::size_t{std::ranges::max(round)} + 1);
  for (std::uint32_t t = 0; t < round.size(); ++t) {
    const Transfer& transfer = plan.transfers[t];
    const collectives::Connection& way = plan.connections[collectives::index(transfer.connection)];
    rounds[round[t]].sent[collectives::index(way.source)][collectives::index(way.destination)].push_back(&transfer);
  }
  for (DrawnRound& each : rounds) {
    each.top = top;
    top += each.height();
  }
  return rounds;
}

/// The parts that no transfer of the plan cuts, named a, b, c ... (numbers where the alphabet is too short).
class PartNames {
 public:
  explicit PartNames(const CollectivePlan& plan) {
    for (std::uint32_t c = 0; c < plan.chunks(); ++c)
      for (const collectives::Range& range : plan.ranges(ChunkId{c})) {
        if (range.count == 0) continue;
        ends_.push_back(range.begin);
        ends_.push_back(range.begin + range.count);
      }
    std::ranges::sort(ends_);
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  }
  std::size_t parts() const { return ends_.empty() ? 0 : ends_.size() - 1; }

  /// Of the first range of a chunk.
  std::size_t first(const CollectivePlan& plan, ChunkId chunk) const {
    const auto ranges = plan.ranges(chunk);
    return ranges.empty() ? 0 : at(ranges.front().begin);
  }
  std::string name(const CollectivePlan& plan, ChunkId chunk) const {
    std::string out;
    for (const collectives::Range& range : plan.ranges(chunk)) {
      if (range.count == 0) continue;
      const std::size_t from = at(range.begin), last = at(range.begin + range.count) - 1;
      out += (out.empty() ? "" : ",") + letter(from);
      if (last > from) out += (last == from + 1 ? "," : "-") + letter(last);
    }
    return out;
  }
  std::string letter(std::size_t part) const {
    return parts() <= 26 ? std::string(1, static_cast<char>('a' + static_cast<int>(part))) : std::to_string(part);
  }

 private:
  std::size_t at(std::int64_t element) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ends_, element) - ends_.begin());
  }
  std::vector<std::int64_t> ends_;
};

double column(std::uint32_t rank) { return kLeft + kColumn * (rank + 0.5); }

std::string heads(const CollectivePlan& plan, std::uint32_t per_node, double bottom) {
  std::string out;
  const bool nodes = per_node < plan.ranks;
  for (std::uint32_t rank = 0; nodes && rank < plan.ranks; rank += per_node)
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"36\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" fill=\"#f4f6f8\"/>"
        "<text x=\"{:.1f}\" y=\"52\" text-anchor=\"middle\" fill=\"#555\">node {}</text>\n",
        column(rank) - kColumn / 2 + 4, kColumn * per_node - 8, bottom - 30,
        column(rank) + kColumn * (per_node - 1) / 2., rank / per_node);
  for (std::uint32_t rank = 0; rank < plan.ranks + plan.switches; ++rank)
    out += fmt::format(
        "<text x=\"{0:.1f}\" y=\"70\" text-anchor=\"middle\" font-weight=\"bold\">{1} {2}</text>"
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{3:.1f}\" y2=\"{4:.1f}\" stroke=\"#999\"/>\n",
        column(rank), rank < plan.ranks ? "rank" : "switch", rank < plan.ranks ? rank : rank - plan.ranks, kTop - 6,
        bottom);
  return out;
}

std::string arrow(double x1, double y1, double x2, double y2, double hue, bool adds, const std::string& name) {
  const std::string colour = fmt::format("hsl({:.0f},65%,40%)", hue);
  const double length = std::hypot(x2 - x1, y2 - y1), ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const double tip_x = x2 - 3 * ux, tip_y = y2 - 3 * uy, along = std::min(26.0, length * 0.4);
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.6\"{}/>"
      "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"{}\"/>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"{}\" stroke=\"white\" stroke-width=\"5\" "
      "paint-order=\"stroke\">{}</text>\n",
      x1, y1, tip_x - 6 * ux, tip_y - 6 * uy, colour, adds ? " stroke-dasharray=\"5 3\"" : "", tip_x, tip_y,
      tip_x - 9 * ux - 4 * uy, tip_y - 9 * uy + 4 * ux, tip_x - 9 * ux + 4 * uy, tip_y - 9 * uy - 4 * ux, colour,
      x1 + along * ux, y1 + along * uy + 4, colour, name);
}

/// Draws transfers, each part in a colour of its own.
class TransferDrawing {
 public:
  TransferDrawing(const CollectivePlan& plan, const PartNames& names) : plan_(plan), names_(names) {}

  std::string in_arrow(const Transfer& transfer, double top) const {
    const auto& way = plan_.connections[collectives::index(transfer.connection)];
    return arrow(column(collectives::index(way.source)), top + 4, column(collectives::index(way.destination)),
                 top + kRound - 4, hue(transfer), transfer.effect == Effect::reduce,
                 names_.name(plan_, transfer.chunk));
  }

  /// A line for each rank that sends: what it sends to a rank stands in that rank's column.
  std::string in_table(const DrawnRound& round) const {
    std::string out;
    double y = round.top;
    for (const auto& [source, sent] : round.sent) {
      y += kLine;
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#555\">from {}</text>\n",
                         kLeft + 14, y, source);
      for (const auto& [rank, transfers] : sent) {
        std::string parts;
        for (const Transfer* transfer : transfers)
          parts += fmt::format("{}<tspan fill=\"hsl({:.0f},65%,40%)\">{}{}</tspan>", parts.empty() ? "" : ", ",
                               hue(*transfer), transfer->effect == Effect::reduce ? "+" : "",
                               names_.name(plan_, transfer->chunk));
        out += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" stroke=\"white\" stroke-width=\"5\" "
            "paint-order=\"stroke\">{}</text>\n",
            column(rank), y, parts);
      }
    }
    return out;
  }

 private:
  double hue(const Transfer& transfer) const {
    const double colours = static_cast<double>(std::max<std::size_t>(names_.parts(), 1));
    return 360 * static_cast<double>(names_.first(plan_, transfer.chunk)) / colours;
  }

  const CollectivePlan& plan_;
  const PartNames& names_;
};

std::string legend(const CollectivePlan& plan, const PartNames& names, std::span<const DrawnRound> rounds, double y) {
  const bool adds = std::ranges::any_of(plan.transfers, [](const auto& t) { return t.effect == Effect::reduce; });
  const bool arrows = !std::ranges::all_of(rounds, &DrawnRound::is_table);
  const bool tables = std::ranges::any_of(rounds, &DrawnRound::is_table);
  std::string out;
  if (arrows)
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\" stroke-width=\"1.6\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\">replaces</text>\n",
        kLeft, kLeft + 30, y, kLeft + 36, y + 4);
  if (arrows && adds)
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#333\" stroke-width=\"1.6\" "
        "stroke-dasharray=\"5 3\"/><text x=\"{3}\" y=\"{4:.1f}\">adds</text>\n",
        kLeft + 96, kLeft + 126, y, kLeft + 132, y + 4);
  std::string words;
  if (names.parts() > 1)
    words = fmt::format("{} to {}: parts of the data", names.letter(0), names.letter(names.parts() - 1));
  if (tables && adds) words += words.empty() ? "+: adds" : "; +: adds";
  if (!words.empty())
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                       kLeft + (!arrows ? 0
                                : adds  ? 176
                                        : 100),
                       y + 4, words);
  return out;
}

}  // namespace

std::string steps_svg(const CollectivePlan& plan, std::uint32_t per_node, const std::string& title) {
  const PartNames names(plan);
  const std::vector<std::uint32_t> round = rounds_of(plan);
  const std::vector<DrawnRound> rounds = drawn_rounds(plan, round, kTop);
  const double bottom = rounds.empty() ? kTop : rounds.back().top + rounds.back().height();
  const double width = std::max(kLeft + kColumn * (plan.ranks + plan.switches) + kRight, 420.0);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n"
      "<text x=\"12\" y=\"22\" font-size=\"14\">{2}</text>\n",
      width, bottom + kBottom, xml_text(title));
  out += heads(plan, per_node, bottom);
  for (std::size_t r = 0; r < rounds.size(); ++r)
    out += fmt::format(
        "<text x=\"12\" y=\"{0:.1f}\" fill=\"#555\">{1}</text>"
        "<line x1=\"{2}\" x2=\"{3:.0f}\" y1=\"{4:.1f}\" y2=\"{4:.1f}\" stroke=\"#ddd\"/>\n",
        rounds[r].top + rounds[r].height() / 2 + 4, r + 1, kLeft, width - kRight, rounds[r].top + rounds[r].height());
  const TransferDrawing drawing(plan, names);
  for (const DrawnRound& each : rounds)
    if (each.is_table()) out += drawing.in_table(each);
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t)
    if (const DrawnRound& in = rounds[round[t]]; !in.is_table()) out += drawing.in_arrow(plan.transfers[t], in.top);
  return out + legend(plan, names, rounds, bottom + 24) + "</svg>\n";
}

}  // namespace stepcast::app
