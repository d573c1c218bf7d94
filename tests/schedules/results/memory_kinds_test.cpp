#include "schedules/results/memory_kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace stepcast::schedules {
namespace {

TEST(MemoryKinds, EachMemberHasOneKeyAndCountsOnceInThePeak) {
  std::set<std::string_view> keys;
  MemoryUse use;
  for (const MemoryKind& kind : kMemoryKinds) {
    EXPECT_TRUE(keys.insert(kind.key).second) << kind.key;
    EXPECT_EQ(use.*kind.on_gpu, Bytes{}) << kind.key << ": its member has a line already";
    use.*kind.on_gpu = Bytes{std::int64_t{1} << keys.size()};
  }
  EXPECT_EQ(use.peak().value, (2 << keys.size()) - 2);
  EXPECT_EQ(use.peak() - use.allocated(), use.communicators + use.reserve);
}

TEST(MemoryKinds, OffloadedOnesAddUpWithoutThePeak) {
  MemoryUse use;
  std::int64_t kinds = 0;
  for (const MemoryKind& kind : kMemoryKinds)
    if (kind.offloaded != nullptr) use.host.*kind.offloaded = Bytes{std::int64_t{1} << kinds++};
  EXPECT_EQ(use.host.sum().value, (1 << kinds) - 1);
  EXPECT_EQ(use.nvme.sum(), Bytes{});
  EXPECT_EQ(use.peak(), Bytes{});
}

}  // namespace
}  // namespace stepcast::schedules
