#include "app/machine_errors.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "app/curve_errors.h"
#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

/// MachineErrors below and from 1 MB: by what was fitted to all, by what was fitted without the machine.
struct MachineErrors {
  std::array<std::vector<double>, 2> all, others;

  void add(const calibrate::Curve& curve, const std::vector<Time>& by_all, const std::vector<Time>& by_others) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const std::size_t large = curve.points[i].size < kMegabyte ? 0 : 1;
      all[large].push_back(std::abs(by_all[i] / curve.points[i].time - 1));
      if (!by_others.empty()) others[large].push_back(std::abs(by_others[i] / curve.points[i].time - 1));
    }
  }
};

std::string line(const std::string& stack, const std::string& link, const std::string& machine,
                 const MachineErrors& errors) {
  return fmt::format("{:<12} {:<18} {:<20} {:>6} {:>7} {:>7} {:>6} {:>7} {:>7}\n", stack, link, machine,
                     errors.all[0].size(), median_percent(errors.all[0]), median_percent(errors.others[0]),
                     errors.all[1].size(), median_percent(errors.all[1]), median_percent(errors.others[1]));
}

}  // namespace

std::string machine_errors(const std::vector<language::CurveRow>& rows, const calibrate::JointFit& fit) {
  std::map<std::array<std::string, 3>, MachineErrors> machines;  // by stack, link, machine
  std::map<std::pair<std::string, bool>, MachineErrors> kinds;
  std::map<bool, MachineErrors> all;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const language::CurveRow& row = rows[r];
    const std::vector<Time> none, &others = fit.left_out.empty() ? none : fit.left_out[r];
    machines[{row.software, row.link, row.machine}].add(row.curve, fit.predicted[r], others);
    if (others.empty()) continue;
    kinds[{row.software, !row.link.empty()}].add(row.curve, fit.predicted[r], others);
    all[!row.link.empty()].add(row.curve, fit.predicted[r], others);
  }
  std::string text =
      "Median error of the points of each machine, below 1 MB and from there on: where all machines are fitted to, "
      "and\n"
      "where this one is left out (-: not fitted to).\n" +
      fmt::format("{:<12} {:<18} {:<20} {:>6} {:>7} {:>7} {:>6} {:>7} {:>7}\n", "stack", "network", "machine", "< 1 MB",
                  "fitted", "left", ">= 1", "fitted", "left");
  const auto network = [](bool across) { return across ? "all networks" : "inside a node"; };
  for (const auto& [key, errors] : machines)
    text += line(key[0], key[1].empty() ? "inside a node" : key[1], language::visible(key[2]), errors);
  for (const auto& [key, errors] : kinds) text += line(key.first, network(key.second), "all of its points", errors);
  for (const auto& [across, errors] : all) text += line("all stacks", network(across), "all points", errors);
  return text;
}

}  // namespace stepcast::app
