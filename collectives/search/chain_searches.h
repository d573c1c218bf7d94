#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "collectives/link_view.h"
#include "collectives/search/chain_search.h"

namespace stepcast::collectives {

/// What the searches for chains found, by what they looked at. The nodes of a cluster are alike, so the groups of 64
/// pipeline stages ask for the chains of one view 64 times. Any number of threads may ask.
class ChainSearches {
 public:
  /// best_chains() of the view.
  std::vector<Chain> best(const LinkView& view);
  /// chains_at() of the view, with its usual effort.
  std::vector<Chain> at(const LinkView& view, double rate, bool nvlink, std::uint32_t most);
  /// About what it takes in memory.
  std::size_t bytes() const;

 private:
  /// What a search looks at: a view but for the names of its links, which differ from node to node.
  struct Looked {
    std::uint32_t ranks = 0;
    std::vector<double> capacity;
    std::vector<LinkView::Hop> hops;
    std::vector<std::uint32_t> begin;
    std::vector<bool> over_nvlink;
    std::vector<std::vector<LinkView::Hop>> departs, arrives;
    auto operator<=>(const Looked&) const = default;
  };
  struct OfView {
    std::optional<std::vector<Chain>> best;
    std::map<std::tuple<double, bool, std::uint32_t>, std::vector<Chain>> at;
  };

  /// What was found of this view; stays where it is.
  OfView& of(const LinkView& view);

  mutable std::mutex mutex_;
  std::map<Looked, OfView> found_;
};

}  // namespace stepcast::collectives
