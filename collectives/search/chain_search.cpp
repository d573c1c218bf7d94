#include "collectives/search/chain_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace stepcast::collectives {
namespace {

using Hops = std::span<const LinkView::Hop>;

constexpr std::uint32_t kMostChains = 32;  // as NCCL's rings
constexpr double kSlack = 1e-6;            // of a link's rate: loads are sums of shares

class ChainSearch {
 public:
  ChainSearch(const LinkView& view, double rate, bool nvlink, bool both_ways, std::uint32_t most, std::uint32_t effort)
      : view_(view),
        n_(view.ranks),
        rate_(rate),
        nvlink_(nvlink),
        both_ways_(both_ways),
        most_(both_ways ? most / 2 : most),
        effort_(effort),
        left_(view.capacity) {}

  std::vector<Chain> run() {
    next_chain();
    if (!both_ways_) return std::move(best_);
    std::vector<Chain> chains = best_;
    for (const Chain& chain : best_) {
      // A ring starts where it did.
      chains.emplace_back(chain.rbegin(), chain.rend());
      if (view_.departs.empty()) std::rotate(chains.back().rbegin(), chains.back().rbegin() + 1, chains.back().rend());
    }
    return chains;
  }

 private:
  bool done() const { return effort_ == 0 || best_.size() >= most_; }

  /// Takes a way's share of its links, if they have it.
  bool take(Hops hops) {
    for (std::size_t i = 0; i < hops.size(); ++i) {
      double& left = left_[hops[i].link];
      left -= rate_ * hops[i].load;
      if (left < -kSlack * rate_) {
        give(hops.first(i + 1));
        return false;
      }
    }
    return true;
  }
  void give(Hops hops) {
    for (const LinkView::Hop& hop : hops) left_[hop.link] += rate_ * hop.load;
  }

  bool step(std::uint32_t from, std::uint32_t to) {
    if (nvlink_ && !view_.nvlink(from, to)) return false;
    if (!take(view_.way(from, to))) return false;
    if (!both_ways_ || take(view_.way(to, from))) return true;
    give(view_.way(from, to));
    return false;
  }
  void undo(std::uint32_t from, std::uint32_t to) {
    give(view_.way(from, to));
    if (both_ways_) give(view_.way(to, from));
  }

  bool border(const std::vector<std::vector<LinkView::Hop>>& forward,
              const std::vector<std::vector<LinkView::Hop>>& back, std::uint32_t rank) {
    if (!take(forward[rank])) return false;
    if (!both_ways_ || take(back[rank])) return true;
    give(forward[rank]);
    return false;
  }
  void undo_border(const std::vector<std::vector<LinkView::Hop>>& forward,
                   const std::vector<std::vector<LinkView::Hop>>& back, std::uint32_t rank) {
    give(forward[rank]);
    if (both_ways_) give(back[rank]);
  }

  void next_chain() {
    if (chosen_.size() > best_.size()) best_ = chosen_;
    if (done()) return;
    const bool ring = view_.departs.empty();
    for (std::uint32_t start = 0; start < (ring ? 1 : n_); ++start) {
      if (!ring && !border(view_.arrives, view_.departs, start)) continue;
      path_.assign(1, start);
      visited_.assign(n_, false);
      visited_[start] = true;
      extend();
      if (!ring) undo_border(view_.arrives, view_.departs, start);
    }
  }

  void complete() {
    const std::uint32_t first = path_.front(), last = path_.back();
    // Of the chains in any order, and of one's two directions, one is enough.
    if (!chosen_.empty() && path_ < chosen_.back()) return;
    const bool ring = view_.departs.empty();
    if (both_ways_ && n_ > 2 && (ring ? path_[1] > last : first > last)) return;
    if (!(ring ? n_ < 2 || step(last, first) : border(view_.departs, view_.arrives, last))) return;
    const Chain path = path_;
    const std::vector<bool> visited = visited_;
    chosen_.push_back(path);
    next_chain();
    chosen_.pop_back();
    path_ = path;
    visited_ = visited;
    if (ring) {
      if (n_ >= 2) undo(last, first);
    } else {
      undo_border(view_.departs, view_.arrives, last);
    }
  }

  void extend() {
    if (done()) return;
    --effort_;
    if (path_.size() == n_) return complete();
    const std::uint32_t last = path_.back();
    for (std::uint32_t next = 0; next < n_; ++next) {
      if (visited_[next] || !step(last, next)) continue;
      visited_[next] = true;
      path_.push_back(next);
      extend();
      path_.pop_back();
      visited_[next] = false;
      undo(last, next);
    }
  }

  const LinkView& view_;
  std::uint32_t n_;
  double rate_;
  bool nvlink_, both_ways_;
  std::size_t most_;
  std::uint32_t effort_;
  std::vector<double> left_;
  Chain path_;
  std::vector<bool> visited_;
  std::vector<Chain> chosen_, best_;
};

/// No more chains of this rate than any rank's links, out or in, or the node's adapters allow.
std::uint32_t bound(const LinkView& view, double rate, bool nvlink) {
  const auto fit = [&](const std::vector<Hops>& ways, bool first) {
    std::set<std::uint32_t> seen;
    std::uint32_t count = 0;
    for (const Hops& hops : ways) {
      // The end of a way at this rank; of several planes each takes its share of every chain.
      if (hops.empty()) return kMostChains;
      const LinkView::Hop end = first ? hops.front() : hops.back();
      if (!seen.insert(end.link).second) continue;
      count += static_cast<std::uint32_t>(
          std::min<double>(kMostChains, (view.capacity[end.link] / end.load + kSlack * rate) / rate));
    }
    return count;
  };
  std::uint32_t least = kMostChains;
  for (std::uint32_t rank = 0; rank < view.ranks && view.ranks > 1; ++rank) {
    std::vector<Hops> out, in;
    for (std::uint32_t other = 0; other < view.ranks; ++other) {
      if (other == rank) continue;
      if (!nvlink || view.nvlink(rank, other)) out.push_back(view.way(rank, other));
      if (!nvlink || view.nvlink(other, rank)) in.push_back(view.way(other, rank));
    }
    // Where rings come and go, one rank in the node neither sends nor one receives.
    const std::uint32_t spare = view.departs.empty() ? 0 : kMostChains;
    least = std::min({least, fit(out, true) + spare, fit(in, false) + spare});
  }
  if (!view.departs.empty()) {
    least = std::min({least, fit({view.departs.begin(), view.departs.end()}, false),
                      fit({view.arrives.begin(), view.arrives.end()}, true)});
  }
  return least;
}

}  // namespace

double rate_of(const LinkView& view, std::span<const Chain> chains) {
  std::vector<double> load(view.capacity.size());
  const auto use = [&](Hops hops) {
    for (const LinkView::Hop& hop : hops) load[hop.link] += hop.load;
  };
  for (const Chain& chain : chains) {
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) use(view.way(chain[i], chain[i + 1]));
    if (!view.departs.empty()) {
      use(view.arrives[chain.front()]);
      use(view.departs[chain.back()]);
    } else if (chain.size() > 1) {
      use(view.way(chain.back(), chain.front()));
    }
  }
  double rate = std::numeric_limits<double>::infinity();
  for (std::size_t link = 0; link < load.size(); ++link) {
    if (load[link] > 0) rate = std::min(rate, view.capacity[link] / load[link]);
  }
  return rate;
}

std::vector<Chain> chains_at(const LinkView& view, double rate, bool nvlink, std::uint32_t most, std::uint32_t effort) {
  most = std::min(most, bound(view, rate, nvlink));
  std::vector<Chain> pairs = ChainSearch(view, rate, nvlink, true, most, effort).run();
  if (pairs.size() >= most) return pairs;
  std::vector<Chain> single = ChainSearch(view, rate, nvlink, false, most, effort).run();
  return single.size() > pairs.size() ? single : pairs;
}

std::vector<Chain> best_chains(const LinkView& view) {
  std::set<double, std::greater<>> rates;
  const auto offer = [&](Hops hops) {
    for (const LinkView::Hop& hop : hops) {
      for (const double parts : {1.0, 2.0, 3.0, 4.0}) rates.insert(view.capacity[hop.link] / hop.load / parts);
    }
  };
  offer(view.hops);
  for (const auto& hops : view.departs) offer(hops);
  for (const bool nvlink : {true, false}) {
    std::vector<Chain> best;
    double total = 0;
    for (const double rate : rates) {
      if (bound(view, rate, nvlink) * rate <= total * (1 + 1e-3)) continue;
      std::vector<Chain> found = chains_at(view, rate, nvlink, kMostChains);
      if (found.empty()) continue;
      const double moved = rate_of(view, found) * static_cast<double>(found.size());
      if (moved <= total * (1 + 1e-3)) continue;
      total = moved;
      best = std::move(found);
    }
    if (!best.empty()) return best;
  }
  return {};
}

}  // namespace stepcast::collectives
