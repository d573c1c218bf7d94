#include "workload/own_algorithm.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "sim/input_error.h"

namespace stepcast::workload {

std::string own_algorithm(const Collective& c, const collectives::Timer& timer) {
  std::string given(c.algorithm);
  if (given != "library" || c.own != 1 || c.details || c.groups->size() == 1) return given;
  const collectives::Timing& together = timer.time(c.operation, c.bytes, *c.groups, given, false);
  if (together.alike()) return given;
  const std::optional<std::string> own = timer.picked_for(c.operation, c.bytes, c.groups->front());
  if (!own || *own == together.algorithm + "/" + together.protocol) return given;
  try {
    timer.time(c.operation, c.bytes, *c.groups, *own, false);
  } catch (const InputError&) {  // what one of them does the others cannot
    return given;
  }
  return *own;
}

std::vector<collectives::Timing::Load> loads_of_unlike(const Collective& c, const collectives::Timer& timer) {
  std::vector<Collective> each;
  std::vector<std::string> algorithms;
  for (std::size_t own = 0; own < c.groups->size(); ++own) {
    std::vector<collectives::Group> groups = *c.groups;
    std::swap(groups.front(), groups[own]);
    each.push_back(c);
    each.back().groups = std::make_shared<const std::vector<collectives::Group>>(std::move(groups));
    algorithms.push_back(own_algorithm(each.back(), timer));
  }
  if (std::ranges::all_of(algorithms, [&](const std::string& one) { return one == algorithms.front(); })) return {};
  std::map<topology::LinkId, collectives::Timing::Load> all;
  for (std::size_t i = 0; i < each.size(); ++i) {
    const collectives::Timing& timing =
        timer.time(c.operation, c.bytes, *each[i].groups, algorithms[i], false, {.own = 1});
    for (const collectives::Timing::Load& load : timing.loads) {
      const auto [known, fresh] = all.try_emplace(load.link, load);
      if (fresh) continue;
      known->second.bytes += load.bytes;
      known->second.occupied += load.occupied;
      known->second.connections += load.connections;
    }
  }
  std::vector<collectives::Timing::Load> loads;
  for (const auto& [link, load] : all) loads.push_back(load);
  return loads;
}

}  // namespace stepcast::workload
