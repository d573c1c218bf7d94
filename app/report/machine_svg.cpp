#include "app/report/machine_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "app/report/xml_text.h"
#include "sim/input_error.h"
#include "sim/units_text.h"
#include "topology/dimensions.h"
#include "topology/expand.h"

namespace stepcast::app {
namespace {

using topology::DeviceKind;
using topology::Expanded;
using topology::LinkKind;

constexpr double kMargin = 24, kTop = 64, kBox = 30, kRow = 92, kGap = 8, kWidest = 1180, kWide = 64, kLegend = 20;

/// From top to bottom.
enum class DrawnRow : std::uint8_t { core, spine, leaf, node, socket, pcie_switch, gpu, nvswitch };
constexpr std::size_t kRows = 8;

DrawnRow row_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::core:
      return DrawnRow::core;
    case DeviceKind::spine:
      return DrawnRow::spine;
    case DeviceKind::leaf:
      return DrawnRow::leaf;
    case DeviceKind::cpu:
      return DrawnRow::socket;
    case DeviceKind::pcie_switch:
      return DrawnRow::pcie_switch;
    case DeviceKind::gpu:
    case DeviceKind::nic:
      return DrawnRow::gpu;
    case DeviceKind::nvswitch:
      return DrawnRow::nvswitch;
  }
  return DrawnRow::node;
}

/// "gpu 0" of "node 0 / gpu 0".
std::string name_in_node(const std::string& name) {
  const std::size_t slash = name.rfind(" / ");
  return slash == std::string::npos ? name : name.substr(slash + 3);
}

/// One box: a device, adapters that hang off the same switch, or a node.
struct Box {
  std::string name, fill;
  DrawnRow row{};
  std::size_t order = 0;  ///< in its row: that of its parent, where it has one, else of its first device
  std::size_t count = 1;  ///< devices in it
  double x = 0, y = 0, width = kWide;
};

/// All links between two boxes, of one kind and rate.
struct Line {
  std::size_t a = 0, b = 0;
  LinkKind kind{};
  Bandwidth rate{};  ///< of each, one way
  std::size_t count = 0;
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Line> lines;
};

std::string_view fill_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "#b7dfae";
    case DeviceKind::nvswitch:
      return "#8cc7a1";
    case DeviceKind::cpu:
      return "#b5cfea";
    case DeviceKind::nic:
      return "#f3d9a4";
    case DeviceKind::pcie_switch:
      return "#dddddd";
    case DeviceKind::leaf:
    case DeviceKind::spine:
    case DeviceKind::core:
      return "#f6c88f";
  }
  return "";
}

std::string_view colour_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "#2f8f46";
    case LinkKind::pcie:
      return "#888888";
    case LinkKind::c2c:
      return "#8a5fb0";
    case LinkKind::socket:
      return "#4a7fb5";
    case LinkKind::network:
      return "#d9822b";
  }
  return "";
}

std::string_view word_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "between GPUs";
    case LinkKind::pcie:
      return "PCIe";
    case LinkKind::c2c:
      return "C2C";
    case LinkKind::socket:
      return "between sockets";
    case LinkKind::network:
      return "network";
  }
  return "";
}

/// The socket or PCIe switch that each device hangs off, if any.
std::vector<std::optional<std::uint32_t>> parents_of(const Expanded& all) {
  std::vector<std::optional<std::uint32_t>> parents(all.devices.size());
  for (const topology::ExpandedLink& link : all.links) {
    const DeviceKind up = all.devices[link.to].kind;
    if (!parents[link.from] && (up == DeviceKind::cpu || up == DeviceKind::pcie_switch)) parents[link.from] = link.to;
  }
  return parents;
}

/// Which box each device is in; makes the boxes. `torus`: only what is joined as one, the GPUs of the one node or the
/// routers of the fabric; all else is in no box.
std::vector<std::size_t> put_in_boxes(const Expanded& all, bool torus, std::vector<Box>& boxes) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const auto parents = parents_of(all);
  std::vector<std::size_t> box(all.devices.size(), kNone);
  std::map<std::uint32_t, std::size_t> adapters;  // by what they hang off
  for (std::uint32_t d = 0; d < all.devices.size(); ++d) {
    const topology::Device& device = all.devices[d];
    const bool in_node = d < all.nodes * all.devices_per_node;
    if (torus && (all.nodes > 1 ? in_node : device.kind != DeviceKind::gpu)) continue;
    if (all.nodes > 1 && in_node) {  // a node is one box
      if (d % all.devices_per_node == 0)
        boxes.push_back({fmt::format("node {}", d / all.devices_per_node), "#e3ecd9", DrawnRow::node, d});
      box[d] = boxes.size() - 1;
      continue;
    }
    const bool hangs = parents[d] && device.kind != DeviceKind::cpu;
    const std::size_t order =
        hangs ? std::size_t{*parents[d]} * 4 + (device.kind == DeviceKind::nic ? 1 : 0) : std::size_t{d} * 4;
    if (device.kind == DeviceKind::nic && parents[d]) {
      const auto [at, is_new] = adapters.try_emplace(*parents[d], boxes.size());
      box[d] = at->second;
      if (!is_new) {
        Box& known = boxes[at->second];
        known.name = fmt::format("{} nics", ++known.count);
        continue;
      }
    }
    box[d] = boxes.size();
    const std::string name = in_node ? name_in_node(device.name) : device.name;
    boxes.push_back({name, std::string(fill_of(device.kind)), row_of(device.kind), order});
  }
  return box;
}

/// One line for all links between two boxes that are of one kind and rate; both directions are one.
std::vector<Line> lines_between(const Expanded& all, const std::vector<std::size_t>& box, std::size_t boxes) {
  std::map<std::tuple<std::size_t, std::size_t, LinkKind, double>, std::size_t> count;
  for (const topology::ExpandedLink& link : all.links) {
    const std::size_t a = box[link.from], b = box[link.to];
    if (a < boxes && b < boxes && a < b) ++count[{a, b, link.kind, link.bandwidth.value}];
  }
  std::vector<Line> lines;
  for (const auto& [key, links] : count)
    lines.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), Bandwidth{std::get<3>(key)}, links});
  return lines;
}

std::vector<std::vector<std::size_t>> rows_of(const std::vector<Box>& boxes) {
  std::vector<std::vector<std::size_t>> rows(kRows);
  for (std::size_t b = 0; b < boxes.size(); ++b) rows[static_cast<std::size_t>(boxes[b].row)].push_back(b);
  for (auto& row : rows) std::ranges::stable_sort(row, {}, [&](std::size_t b) { return boxes[b].order; });
  return rows;
}

/// Rows from top to bottom. Each box stands in the middle of those below it that it is joined to, as far as its
/// neighbours leave room; a row with nothing to go by is spread evenly. The width and the height.
std::pair<double, double> place_in_rows(Drawing& drawing) {
  const auto rows = rows_of(drawing.boxes);
  std::size_t most = 1;
  for (const auto& row : rows) most = std::max(most, row.size());
  const double pitch = std::min(kWide + kGap, kWidest / static_cast<double>(most));
  const double width = std::max(420.0, pitch * static_cast<double>(most) + 2 * kMargin);
  double y = kTop;
  for (const auto& row : rows) {
    if (row.empty()) continue;
    for (const std::size_t b : row) drawing.boxes[b].y = y;
    y += kRow;
  }
  const auto spread = [&](const std::vector<std::size_t>& row) {
    const double step = (width - 2 * kMargin) / static_cast<double>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      drawing.boxes[row[i]].x = kMargin + step * (static_cast<double>(i) + 0.5);
  };
  std::vector<bool> placed(drawing.boxes.size(), false);
  const auto middle = [&](const std::vector<std::size_t>& row) {
    for (const std::size_t b : row) {
      double sum = 0, joined = 0;
      for (const Line& line : drawing.lines) {
        if (line.a != b && line.b != b) continue;
        const std::size_t other = line.a == b ? line.b : line.a;
        if (!placed[other]) continue;
        sum += drawing.boxes[other].x;
        ++joined;
      }
      if (joined > 0) drawing.boxes[b].x = sum / joined;
    }
    for (std::size_t i = 1; i < row.size(); ++i)
      if (drawing.boxes[row[i]].x < drawing.boxes[row[i - 1]].x + pitch) return spread(row);
  };
  const auto from = static_cast<std::size_t>(
      drawing.boxes.empty() || rows[static_cast<std::size_t>(DrawnRow::node)].empty() ? DrawnRow::gpu : DrawnRow::node);
  spread(rows[from]);
  for (const std::size_t b : rows[from]) placed[b] = true;
  for (std::size_t up = from; up-- > 0;) {
    spread(rows[up]);
    if (up > static_cast<std::size_t>(DrawnRow::leaf)) middle(rows[up]);
    for (const std::size_t b : rows[up]) placed[b] = true;
  }
  spread(rows[static_cast<std::size_t>(DrawnRow::nvswitch)]);
  for (const auto& row : rows) {
    const double room = (width - 2 * kMargin) / static_cast<double>(std::max<std::size_t>(row.size(), 1));
    for (const std::size_t b : row) drawing.boxes[b].width = std::min(kWide, room - (room > 20 ? kGap : 2));
  }
  return {width, y - kRow + kBox + 40};
}

/// GPUs, or routers with their nodes, in a grid; a third side goes to the back.
std::pair<double, double> place_in_grid(Drawing& drawing, const std::vector<std::uint32_t>& sides) {
  const topology::Grid grid(sides);
  const double pitch = std::min(96.0, 1000.0 / std::max(sides[0], sides[1])),
               deep = sides.size() > 2 ? pitch * 0.26 : 0;
  const double back = deep * (sides.size() > 2 ? sides[2] - 1 : 0);
  std::uint32_t place = 0;
  for (Box& box : drawing.boxes) {
    if (place >= grid.size()) break;
    const double z = sides.size() > 2 ? grid.at(place, 2) * deep : 0;
    box.x = kMargin + 20 + pitch * (grid.at(place, 0) + 0.5) + z;
    box.y = kTop + 20 + back + pitch * grid.at(place, 1) - z * 0.8;
    box.width = std::min(kWide, pitch * (sides.size() > 2 ? 0.24 : 0.6));
    ++place;
  }
  return {std::max(420.0, 2 * (kMargin + 20) + pitch * sides[0] + back),
          kTop + 40 + back + pitch * (sides[1] - 1) + kBox + 24};
}

/// The way of a line: straight, or an arc where both ends are in one row and others stand between them.
std::string way(const std::vector<Box>& boxes, const Box& a, const Box& b) {
  if (a.y != b.y)
    return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y < b.y ? a.y + kBox : a.y, b.x,
                       a.y < b.y ? b.y : b.y + kBox);
  const double left = std::min(a.x, b.x), right = std::max(a.x, b.x), apart = right - left;
  const bool below = a.row == DrawnRow::gpu || a.row == DrawnRow::nvswitch;
  if (!below && std::ranges::none_of(boxes, [&](const Box& c) { return c.y == a.y && left < c.x && c.x < right; }))
    return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y + kBox / 2, b.x, b.y + kBox / 2);
  const double from = below ? a.y + kBox : a.y, depth = below ? std::min(apart * 0.35 + 10, 150.0) : -34;
  return fmt::format("M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {2:.1f} {3:.1f} {1:.1f}", a.x, from, from + depth, b.x);
}

/// In a grid: a line to a neighbour, or two ends that leave the picture where the link goes round.
std::string grid_way(const Box& a, const Box& b, double pitch) {
  const double ay = a.y + kBox / 2, by = b.y + kBox / 2, dx = b.x - a.x, dy = by - ay, length = std::hypot(dx, dy);
  if (length < 1.5 * pitch) return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, ay, b.x, by);
  const double out = 0.45 * pitch, ux = dx / length * out, uy = dy / length * out;
  return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, ay, a.x - ux, ay - uy, b.x, by,
                     b.x + ux, by + uy);
}

/// A line of text in the middle of a box, smaller where it is narrow; nothing where it does not fit at all.
std::string label(const Box& box, std::string text, double y) {
  const auto fits = [&](double size) { return box.width >= 0.6 * size * static_cast<double>(text.size()); };
  if (const std::size_t blank = text.rfind(' '); !fits(9) && blank != std::string::npos)
    text = box.count > 1 ? std::to_string(box.count) : text.substr(blank + 1);
  const int size = fits(11) ? 11 : fits(9) ? 9 : 7;
  if (!fits(size)) return "";
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"middle\">{}</text>\n", box.x, y,
                     size, xml_text(text));
}

std::string draw_boxes(const std::vector<Box>& boxes) {
  std::string out;
  for (const Box& box : boxes) {
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"#555\" stroke-width=\"0.7\"/>\n",
        box.x - box.width / 2, box.y, box.width, kBox, box.fill);
    const std::size_t slash = box.name.find(" / ");
    if (slash == std::string::npos) {
      out += label(box, box.name, box.y + kBox / 2 + 4);
    } else {
      out += label(box, box.name.substr(0, slash), box.y + 13) + label(box, box.name.substr(slash + 3), box.y + 25);
    }
  }
  return out;
}

/// How thick a line is: the thicker, the more its links carry together.
double thickness(double rate, double fastest) { return 1 + 2.5 * std::sqrt(rate / fastest); }

/// Kinds, rates and, in the network, numbers of links that lines stand for.
std::set<std::tuple<LinkKind, double, std::size_t>> kinds_of(const std::vector<Line>& lines) {
  std::set<std::tuple<LinkKind, double, std::size_t>> kinds;
  for (const Line& line : lines)
    kinds.insert({line.kind, line.rate.value, line.kind == LinkKind::network ? line.count : 1});
  return kinds;
}

/// What each kind of line is, a line of text for each.
std::string legend(const std::vector<Line>& lines, double fastest, double y) {
  std::string out;
  for (const auto& [kind, rate, count] : kinds_of(lines)) {
    out += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"{4:.1f}\"/>"
        "<text x=\"{5}\" y=\"{6:.1f}\">{7}{8}, {9} one way{10}</text>\n",
        kMargin, kMargin + 28, y, colour_of(kind), thickness(rate * static_cast<double>(count), fastest), kMargin + 36,
        y + 4, count > 1 ? fmt::format("{} x ", count) : "", word_of(kind), text(Bandwidth{rate}),
        count > 1 ? " each" : "");
    y += kLegend;
  }
  return out;
}

}  // namespace

std::string machine_svg(const topology::Cluster& cluster, const std::vector<std::uint32_t>& sides,
                        const std::string& title) {
  const Expanded all = topology::expand(cluster);
  const bool grid = sides.size() > 1;
  Drawing drawing;
  const std::vector<std::size_t> box = put_in_boxes(all, grid, drawing.boxes);
  if (drawing.boxes.size() > kMostDrawnBoxes)
    throw InputError("--plot", fmt::format("found {} devices to draw, expected at most {}: fewer --nodes",
                                           drawing.boxes.size(), kMostDrawnBoxes));
  drawing.lines = lines_between(all, box, drawing.boxes.size());
  const auto [width, height] = grid ? place_in_grid(drawing, sides) : place_in_rows(drawing);
  const double arcs = std::ranges::any_of(drawing.lines,
                                          [&](const Line& line) {
                                            return !grid && drawing.boxes[line.a].row == DrawnRow::gpu &&
                                                   drawing.boxes[line.b].row == DrawnRow::gpu;
                                          })
                          ? 110
                          : 0;
  const double foot = height + arcs, bottom = foot + kLegend * static_cast<double>(kinds_of(drawing.lines).size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"24\" font-size=\"15\">{3}</text>\n",
      width, bottom, kMargin, xml_text(title));
  double fastest = 1;
  for (const Line& line : drawing.lines) fastest = std::max(fastest, line.rate.value * static_cast<double>(line.count));
  const double pitch = grid ? std::min(96.0, 1000.0 / std::max(sides[0], sides[1])) : 0;
  for (const Line& line : drawing.lines) {
    const Box &a = drawing.boxes[line.a], &b = drawing.boxes[line.b];
    out += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n",
        grid ? grid_way(a, b, pitch) : way(drawing.boxes, a, b), colour_of(line.kind),
        thickness(line.rate.value * static_cast<double>(line.count), fastest) * (drawing.boxes.size() > 100 ? 0.5 : 1));
  }
  return out + draw_boxes(drawing.boxes) + legend(drawing.lines, fastest, foot) + "</svg>\n";
}

}  // namespace stepcast::app
