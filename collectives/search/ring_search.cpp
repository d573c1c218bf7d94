#include "collectives/search/ring_search.h"

#include <algorithm>

namespace stepcast::collectives {
namespace {

using Ring = std::vector<std::uint32_t>;

class RingSearch {
 public:
  RingSearch(const LinkView& links, bool both_ways, std::uint32_t effort)
      : n_(links.ranks), left_(links.nvlinks), both_ways_(both_ways), effort_(effort) {}

  std::vector<Ring> run() {
    most_ = bound();
    next_ring();
    return std::move(best_);
  }

 private:
  std::uint32_t& left(std::uint32_t a, std::uint32_t b) { return left_[std::size_t{a} * n_ + b]; }
  bool done() const { return effort_ == 0 || best_.size() == most_; }

  /// No more rings than the links of any rank, out or in, allow.
  std::size_t bound() {
    std::uint32_t least = 0xffffffffu;
    for (std::uint32_t a = 0; a < n_; ++a) {
      std::uint32_t out = 0, in = 0;
      for (std::uint32_t b = 0; b < n_; ++b) out += left(a, b), in += left(b, a);
      least = std::min({least, out, in});
    }
    return both_ways_ ? least / 2 : least;
  }

  void use(const Ring& ring, bool back) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::uint32_t a = ring[i], b = ring[(i + 1) % ring.size()];
      back ? ++left(a, b) : --left(a, b);
      if (both_ways_) back ? ++left(b, a) : --left(b, a);
    }
  }

  void next_ring() {
    if (chosen_.size() > best_.size()) best_ = chosen_;
    if (done() || chosen_.size() + bound() <= best_.size()) return;
    Ring path{0};
    std::vector<bool> visited(n_);
    visited[0] = true;
    extend(path, visited);
  }

  void extend(Ring& path, std::vector<bool>& visited) {
    if (done()) return;
    --effort_;
    const std::uint32_t last = path.back();
    if (path.size() == n_) {
      // Of the rings in any order, and of a ring's two directions, one is enough.
      if (left(last, 0) == 0 || (both_ways_ && path[1] > last)) return;
      if (!chosen_.empty() && path < chosen_.back()) return;
      use(path, false);
      chosen_.push_back(path);
      next_ring();
      chosen_.pop_back();
      use(path, true);
      return;
    }
    for (std::uint32_t next = 1; next < n_; ++next) {
      if (visited[next] || left(last, next) == 0) continue;
      visited[next] = true;
      path.push_back(next);
      extend(path, visited);
      path.pop_back();
      visited[next] = false;
    }
  }

  std::uint32_t n_;
  std::vector<std::uint32_t> left_;  // links that no ring has taken
  bool both_ways_;
  std::uint32_t effort_;
  std::size_t most_ = 0;
  std::vector<Ring> chosen_, best_;
};

}  // namespace

std::vector<Ring> edge_disjoint_rings(const LinkView& links, std::uint32_t effort) {
  if (links.ranks < 2) return {};
  std::vector<Ring> pairs;
  // A ring of two ranks is its own reverse; one of more uses other directions of its links each way.
  if (links.ranks > 2) pairs = RingSearch(links, true, effort).run();
  std::vector<Ring> rings = pairs;
  for (const Ring& ring : pairs) {
    rings.push_back({0});
    rings.back().insert(rings.back().end(), ring.rbegin(), ring.rend() - 1);
  }
  std::vector<Ring> single = RingSearch(links, false, effort).run();
  return single.size() > rings.size() ? single : rings;
}

}  // namespace stepcast::collectives
