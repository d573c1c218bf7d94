#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topology/ids.h"

namespace stepcast::collectives {

/// Numbers links from 0 on in the order in which they are met. Takes memory for these and their neighbours, not for all
/// of a cluster.
class LinkSlots {
 public:
  explicit LinkSlots(std::uint32_t links_of_cluster) : page_(links_of_cluster / kPage + 1, kNone) {}

  /// A link that is new gets links().size() as it was.
  std::uint32_t slot(topology::LinkId link) {
    std::uint32_t& page = page_[index(link) / kPage];
    if (page == kNone) {
      page = static_cast<std::uint32_t>(pages_.size());
      pages_.emplace_back().fill(kNone);
    }
    std::uint32_t& slot = pages_[page][index(link) % kPage];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(links_.size());
      links_.push_back(link);
    }
    return slot;
  }
  const std::vector<topology::LinkId>& links() const { return links_; }

  /// All slots in the order of the links' ids.
  std::vector<std::uint32_t> by_id() const {
    std::vector<std::uint32_t> order;
    order.reserve(links_.size());
    for (const std::uint32_t page : page_)
      if (page != kNone)
        for (const std::uint32_t slot : pages_[page])
          if (slot != kNone) order.push_back(slot);
    return order;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu, kPage = 64;

  std::vector<topology::LinkId> links_;
  std::vector<std::uint32_t> page_;                      // by id / kPage: in pages_
  std::vector<std::array<std::uint32_t, kPage>> pages_;  // slots
};

}  // namespace stepcast::collectives
