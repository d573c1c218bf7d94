#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace stepcast::sim {

/// splitmix64's finaliser: unlike numbers for like ones.
constexpr std::uint64_t scramble(std::uint64_t z) {
  z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Lists of loads, equal ones once, in the order in which they came. A Load is how much (`load`) of something that has
/// a number (`number_of(load)`).
template <class Load>
class DistinctLists {
 public:
  std::uint32_t number_of_list(std::span<const Load> list) {
    if (2 * (hashes_.size() + 1) > table_.size()) grow();
    std::uint64_t hash = list.size();
    for (const Load& load : list) hash = scramble(hash ^ number_of(load)) + std::bit_cast<std::uint64_t>(load.load);
    std::uint32_t& known = find(scramble(hash), list);
    if (known == kNone) {
      if (all_.size() + list.size() >= kNone) throw std::length_error("more than 2^32 loads in lists");
      known = size();
      all_.insert(all_.end(), list.begin(), list.end());
      begin_.push_back(static_cast<std::uint32_t>(all_.size()));
      hashes_.push_back(scramble(hash));
    }
    return known;
  }
  /// Valid until the next list is added.
  std::span<const Load> operator[](std::uint32_t number) const {
    return {all_.data() + begin_[number], all_.data() + begin_[number + 1]};
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(hashes_.size()); }
  std::span<const Load> all() const { return all_; }  ///< of all lists
  std::size_t bytes() const {                         ///< of memory
    return all_.size() * sizeof(Load) + (begin_.size() + table_.size()) * sizeof(std::uint32_t) +
           hashes_.size() * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  /// Where the list's number stands in the table, or would.
  std::uint32_t& find(std::uint64_t hash, std::span<const Load> list) {
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at] != kNone && !(hashes_[table_[at]] == hash && std::ranges::equal((*this)[table_[at]], list)))
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

  std::vector<Load> all_;
  std::vector<std::uint32_t> begin_{0};  // of each, in all_, and one behind
  std::vector<std::uint64_t> hashes_;    // of each
  std::vector<std::uint32_t> table_;     // numbers by hash, open addressing; its size is a power of two
};

}  // namespace stepcast::sim
