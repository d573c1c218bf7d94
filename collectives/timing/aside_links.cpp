#include "collectives/timing/aside_links.h"

#include <algorithm>
#include <functional>

namespace stepcast::collectives {
namespace {

/// Each shared list makes every step of a simulation dearer.
constexpr std::size_t kMostShared = 32;

}  // namespace

void AsideLinks::add(std::uint32_t flow, double load, double alone) {
  loads.emplace_back(flow, load / capacity.value);
  most += alone * load / capacity.value;
}

AsideSharing share(std::span<const AsideLinks> lists, std::size_t flows) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t list = 0; list < lists.size(); ++list)
    if (lists[list].most > 1 + 1e-9) order.push_back(list);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t list) { return lists[list].most; });
  AsideSharing sharing;
  std::vector<std::vector<double>> fuller;  // of each shared list: by flow
  for (const std::uint32_t list : order) {
    const auto is_sooner = [&](const std::vector<double>& by_flow) {
      return std::ranges::all_of(lists[list].loads,
                                 [&](const auto& load) { return by_flow[load.first] >= load.second; });
    };
    if (std::ranges::any_of(fuller, is_sooner)) continue;
    if (fuller.size() == kMostShared) {
      sharing.split.push_back(list);
      continue;
    }
    std::vector<double>& by_flow = fuller.emplace_back(flows);
    for (const auto& [flow, load] : lists[list].loads) by_flow[flow] = load;
    sharing.shared.push_back(list);
  }
  return sharing;
}

}  // namespace stepcast::collectives
