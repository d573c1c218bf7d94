#include "collectives/search/view_links.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "collectives/search/searches.h"
#include "topology/host_path.h"

namespace stepcast::collectives {

namespace {

/// Numbers links as they are met.
class Viewer {
 public:
  explicit Viewer(const topology::Cluster& cluster) : cluster_(cluster) {}

  LinkView view(std::span<const topology::GpuId> group) {
    view_.ranks = static_cast<std::uint32_t>(group.size());
    view_.begin.push_back(0);
    std::vector<double> direct(group.size() * group.size());
    for (std::uint32_t from = 0; from < view_.ranks; ++from) {
      for (std::uint32_t to = 0; to < view_.ranks; ++to) {
        view_.over_nvlink.push_back(false);
        if (from != to) {
          const topology::Path path = cluster_.path(group[from], group[to]);
          for (std::size_t i = 0; i < path.links.size(); ++i) view_.hops.push_back(hop(path, i));
          view_.over_nvlink.back() = path.kind == topology::PathKind::nvlink;
          if (path.kind == topology::PathKind::nvlink && path.links.size() == 1) {
            const double rate = cluster_.link_bandwidth(path.links.front()).value;
            direct[std::size_t{from} * view_.ranks + to] = rate;
            view_.nvlink_rate = view_.nvlink_rate == 0 ? rate : std::min(view_.nvlink_rate, rate);
          }
        }
        view_.begin.push_back(static_cast<std::uint32_t>(view_.hops.size()));
      }
    }
    for (const double rate : direct) {
      view_.nvlinks.push_back(
          view_.nvlink_rate == 0 ? 0 : static_cast<std::uint32_t>(std::lround(rate / view_.nvlink_rate)));
    }
    return view_;
  }

  LinkView view(std::span<const topology::GpuId> gpus, std::span<const topology::GpuId> abroad) {
    view(gpus);
    for (std::size_t i = 0; i < abroad.size(); ++i) {
      view_.departs.push_back(in_node(gpus[i], cluster_.path(gpus[i], abroad[i])));
      view_.arrives.push_back(in_node(gpus[i], cluster_.path(abroad[i], gpus[i])));
    }
    return view_;
  }

 private:
  LinkView::Hop hop(const topology::Path& path, std::size_t i) {
    const auto [at, fresh] =
        number_.try_emplace(index(path.links[i]), static_cast<std::uint32_t>(view_.capacity.size()));
    if (fresh) {
      view_.capacity.push_back(cluster_.link_bandwidth(path.links[i]).value);
      view_.id.push_back(path.links[i]);
    }
    return {at->second, path.loads[i]};
  }

  std::vector<LinkView::Hop> in_node(topology::GpuId gpu, const topology::Path& path) {
    std::vector<LinkView::Hop> hops;
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      if (cluster_.in_node_of(gpu, path.links[i])) hops.push_back(hop(path, i));
    }
    return hops;
  }

  const topology::Cluster& cluster_;
  LinkView view_;
  std::unordered_map<std::uint32_t, std::uint32_t> number_;
};

}  // namespace

LinkView view_links(const topology::Cluster& cluster, std::span<const topology::GpuId> group) {
  LinkView view = Viewer(cluster).view(group);
  for (std::uint32_t rank = 0; rank < view.ranks && view.ranks > 1; ++rank) {
    const auto path = topology::host_path(cluster, group[rank], group[(rank + 1) % view.ranks]);
    const double rate = path ? path->bandwidth.value : 0;
    view.host_rate = rank == 0 ? rate : std::min(view.host_rate, rate);
  }
  view.searches = std::make_shared<Searches>();
  return view;
}

LinkView view_node(const topology::Cluster& cluster, std::span<const topology::GpuId> gpus,
                   std::span<const topology::GpuId> abroad) {
  return Viewer(cluster).view(gpus, abroad);
}

}  // namespace stepcast::collectives
