#include "collectives/search/packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "collectives/search/arborescence.h"
#include "collectives/search/packing_program.h"

namespace stepcast::collectives {
namespace {

constexpr double kStep = 0.1;            // by how much a full link's price grows
constexpr double kGiven = 0.05;          // share of the rate that fewer trees may cost
constexpr std::size_t kCandidates = 64;  // trees that the linear program gets
constexpr int kRounds = 600;

/// A tree is the same whatever its root where data flow both ways: turned so that its root is in the middle.
Tree rooted_in_the_middle(const Tree& tree) {
  const auto n = static_cast<std::uint32_t>(tree.size());
  std::vector<std::vector<std::uint32_t>> near(n);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    if (tree[rank] == kNoParent) continue;
    near[rank].push_back(tree[rank]);
    near[tree[rank]].push_back(rank);
  }
  Tree best;
  std::uint32_t least = 0;
  for (std::uint32_t root = 0; root < n; ++root) {
    Tree turned(n, kNoParent);
    std::vector<std::uint32_t> order{root}, depth(n);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::uint32_t next : near[order[i]]) {
        if (next == turned[order[i]]) continue;
        turned[next] = order[i];
        depth[next] = depth[order[i]] + 1;
        order.push_back(next);
      }
    }
    if (best.empty() || depth[order.back()] < least) {
      best = turned;
      least = depth[order.back()];
    }
  }
  return best;
}

class Packer {
 public:
  Packer(const LinkView& links, TreeFlow flow) : links_(links), flow_(flow), n_(links.ranks) {}

  std::vector<PackedTree> run() {
    find_trees();
    return choose();
  }

 private:
  double price(std::uint32_t from, std::uint32_t to) const {
    double sum = 0;
    for (const LinkView::Hop& hop : links_.way(from, to)) sum += hop.load * price_[hop.link];
    return sum;
  }

  Tree cheapest() const {
    std::vector<double> cost(std::size_t{n_} * n_, std::numeric_limits<double>::infinity());
    for (std::uint32_t parent = 0; parent < n_; ++parent) {
      for (std::uint32_t child = 0; child < n_; ++child) {
        if (parent == child) continue;
        double& both = cost[std::size_t{parent} * n_ + child];
        both = flow_ == TreeFlow::up ? 0 : price(parent, child);
        if (flow_ != TreeFlow::down) both += price(child, parent);
      }
    }
    const Tree tree = cheapest_arborescence(n_, 0, cost);
    return flow_ == TreeFlow::up_and_down ? rooted_in_the_middle(tree) : tree;
  }

  std::vector<double> load_of(const Tree& tree) const {
    std::vector<double> load(links_.capacity.size());
    for (std::uint32_t rank = 0; rank < n_; ++rank) {
      if (tree[rank] == kNoParent) continue;
      if (flow_ != TreeFlow::up) {
        for (const LinkView::Hop& hop : links_.way(tree[rank], rank)) load[hop.link] += hop.load;
      }
      if (flow_ != TreeFlow::down) {
        for (const LinkView::Hop& hop : links_.way(rank, tree[rank])) load[hop.link] += hop.load;
      }
    }
    return load;
  }

  void find_trees() {
    for (const double rate : links_.capacity) price_.push_back(1 / rate);
    std::map<Tree, std::size_t> known;
    for (int round = 0; round < kRounds && trees_.size() < kCandidates; ++round) {
      Tree tree = cheapest();
      const auto [at, fresh] = known.try_emplace(tree, trees_.size());
      if (fresh) {
        load_.push_back(load_of(tree));
        trees_.push_back(std::move(tree));
      }
      const std::vector<double>& load = load_[at->second];
      double carries = std::numeric_limits<double>::infinity();
      for (std::size_t l = 0; l < load.size(); ++l) {
        if (load[l] > 0) carries = std::min(carries, links_.capacity[l] / load[l]);
      }
      for (std::size_t l = 0; l < load.size(); ++l) {
        price_[l] *= 1 + kStep * carries * load[l] / links_.capacity[l];
      }
    }
  }

  /// The best rates with the trees that `keep` names.
  std::vector<double> rates(const std::vector<std::size_t>& keep) const {
    std::vector<std::vector<double>> load;
    for (const std::size_t tree : keep) load.push_back(load_[tree]);
    return best_packing(load, links_.capacity);
  }

  std::vector<PackedTree> choose() const {
    std::vector<std::size_t> keep(trees_.size());
    std::iota(keep.begin(), keep.end(), std::size_t{0});
    std::vector<double> rate = rates(keep);
    const double least = std::accumulate(rate.begin(), rate.end(), 0.0) * (1 - kGiven);
    // The slowest goes first; one that cannot be spared once cannot be spared later.
    std::vector<std::size_t> spare = keep;
    while (!spare.empty() && keep.size() > 1) {
      const auto slowest = std::ranges::min_element(spare, {}, [&](std::size_t tree) {
        return rate[static_cast<std::size_t>(std::ranges::find(keep, tree) - keep.begin())];
      });
      const std::size_t candidate = *slowest;
      spare.erase(slowest);
      std::vector<std::size_t> fewer = keep;
      std::erase(fewer, candidate);
      std::vector<double> lower = rates(fewer);
      if (std::accumulate(lower.begin(), lower.end(), 0.0) < least) continue;
      keep = std::move(fewer);
      rate = std::move(lower);
    }
    std::vector<PackedTree> packed;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (rate[i] > 0) packed.push_back({trees_[keep[i]], rate[i]});
    }
    return packed;
  }

  const LinkView& links_;
  TreeFlow flow_;
  std::uint32_t n_;
  std::vector<double> price_;
  std::vector<Tree> trees_;
  std::vector<std::vector<double>> load_;  // by tree: of each link, per byte
};

}  // namespace

std::vector<PackedTree> pack_trees(const LinkView& links, TreeFlow flow) {
  if (links.ranks < 2) return {};
  return Packer(links, flow).run();
}

}  // namespace stepcast::collectives
