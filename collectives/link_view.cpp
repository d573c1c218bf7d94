#include "collectives/link_view.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "collectives/host_path.h"

namespace stepcast::collectives {

LinkView view_links(const topology::Cluster& cluster, std::span<const topology::GpuId> group) {
  LinkView view;
  view.ranks = static_cast<std::uint32_t>(group.size());
  view.begin.push_back(0);
  std::unordered_map<std::uint32_t, std::uint32_t> number;
  std::vector<double> direct(group.size() * group.size());
  for (std::uint32_t from = 0; from < view.ranks; ++from) {
    for (std::uint32_t to = 0; to < view.ranks; ++to) {
      view.over_nvlink.push_back(false);
      if (from != to) {
        const topology::Path path = cluster.path(group[from], group[to]);
        for (std::size_t i = 0; i < path.links.size(); ++i) {
          const auto [at, fresh] =
              number.try_emplace(index(path.links[i]), static_cast<std::uint32_t>(view.capacity.size()));
          if (fresh) view.capacity.push_back(cluster.link_bandwidth(path.links[i]).value);
          view.hops.push_back({at->second, path.loads[i]});
        }
        view.over_nvlink.back() = path.kind == topology::PathKind::nvlink;
        if (path.kind == topology::PathKind::nvlink && path.links.size() == 1) {
          const double rate = cluster.link_bandwidth(path.links.front()).value;
          direct[std::size_t{from} * view.ranks + to] = rate;
          view.nvlink_rate = view.nvlink_rate == 0 ? rate : std::min(view.nvlink_rate, rate);
        }
      }
      view.begin.push_back(static_cast<std::uint32_t>(view.hops.size()));
    }
  }
  for (const double rate : direct) {
    view.nvlinks.push_back(view.nvlink_rate == 0 ? 0
                                                 : static_cast<std::uint32_t>(std::lround(rate / view.nvlink_rate)));
  }
  for (std::uint32_t rank = 0; rank < view.ranks && view.ranks > 1; ++rank) {
    const auto path = host_path(cluster, group[rank], group[(rank + 1) % view.ranks]);
    const double rate = path ? path->bandwidth.value : 0;
    view.host_rate = rank == 0 ? rate : std::min(view.host_rate, rate);
  }
  return view;
}

}  // namespace stepcast::collectives
