#include "collectives/search/chain_searches.h"

#include <utility>

namespace stepcast::collectives {
namespace {

std::size_t bytes_of(const std::vector<Chain>& chains) {
  std::size_t all = sizeof(chains);
  for (const Chain& chain : chains) all += sizeof(chain) + chain.size() * sizeof(chain[0]);
  return all;
}

}  // namespace

ChainSearches::OfView& ChainSearches::of(const LinkView& view) {
  return found_[{view.ranks, view.capacity, view.hops, view.begin, view.over_nvlink, view.departs, view.arrives}];
}

// What nobody has asked for yet is searched outside the lock: other threads need not wait.

std::vector<Chain> ChainSearches::best(const LinkView& view) {
  std::unique_lock lock(mutex_);
  std::optional<std::vector<Chain>>& known = of(view).best;
  if (known) return *known;
  lock.unlock();
  std::vector<Chain> chains = best_chains(view);
  lock.lock();
  known = chains;
  return chains;
}

std::vector<Chain> ChainSearches::at(const LinkView& view, double rate, bool nvlink, std::uint32_t most) {
  std::unique_lock lock(mutex_);
  auto& known = of(view).at;
  if (const auto before = known.find({rate, nvlink, most}); before != known.end()) return before->second;
  lock.unlock();
  std::vector<Chain> chains = chains_at(view, rate, nvlink, most);
  lock.lock();
  known.insert_or_assign({rate, nvlink, most}, chains);
  return chains;
}

std::size_t ChainSearches::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t all = 0;
  for (const auto& [looked, found] : found_) {
    all += sizeof(looked) + sizeof(found) + looked.capacity.size() * sizeof(double) +
           looked.hops.size() * sizeof(LinkView::Hop) + looked.begin.size() * sizeof(std::uint32_t);
    if (found.best) all += bytes_of(*found.best);
    for (const auto& [asked, chains] : found.at) all += sizeof(asked) + bytes_of(chains);
  }
  return all;
}

}  // namespace stepcast::collectives
