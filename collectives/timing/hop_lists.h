#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepcast::collectives {

/// splitmix64's finaliser: unlike numbers for like ones.
constexpr std::uint64_t scramble(std::uint64_t z) {
  z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// So much of something that has a number: of a link the bytes that cross it for each byte that moves, of a way how
/// many take it.
struct Hop {
  std::uint32_t what = 0;
  double load = 1;
  friend bool operator==(const Hop&, const Hop&) = default;
};
using Hops = std::vector<Hop>;

/// Lists of hops, equal ones once, in the order in which they came.
class HopLists {
 public:
  std::uint32_t number_of(std::span<const Hop> hops) {
    if (2 * (end_.size() + 1) > table_.size()) grow();
    std::uint64_t hash = hops.size();
    for (const Hop& hop : hops) hash = scramble(hash ^ hop.what) + std::bit_cast<std::uint64_t>(hop.load);
    std::uint32_t& known = find(scramble(hash), hops);
    if (known == kNone) {
      known = size();
      all_.insert(all_.end(), hops.begin(), hops.end());
      end_.push_back(all_.size());
      hashes_.push_back(scramble(hash));
    }
    return known;
  }
  /// Valid until the next list is added.
  std::span<const Hop> operator[](std::uint32_t number) const {
    return {all_.data() + (number == 0 ? 0 : end_[number - 1]), all_.data() + end_[number]};
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(end_.size()); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Where the list's number stands in the table, or would.
  std::uint32_t& find(std::uint64_t hash, std::span<const Hop> hops) {
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at] != kNone && !(hashes_[table_[at]] == hash && std::ranges::equal((*this)[table_[at]], hops)))
      at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    table_.assign(std::max<std::size_t>(2 * table_.size(), 16), kNone);
    for (std::uint32_t number = 0; number < size(); ++number) {
      std::size_t at = hashes_[number] & (table_.size() - 1);
      while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
      table_[at] = number;
    }
  }

  Hops all_;
  std::vector<std::size_t> end_;       // of each, in all_
  std::vector<std::uint64_t> hashes_;  // likewise
  std::vector<std::uint32_t> table_;   // numbers by hash, open addressing; its size is a power of two
};

}  // namespace stepcast::collectives
