#include "topology/link_kind_name.h"

#include <gtest/gtest.h>

namespace stepcast::topology {
namespace {

TEST(LinkKindName, OfEachKindIsItsOwn) {
  EXPECT_EQ(name(LinkKind::nvlink), "nvlink");
  EXPECT_EQ(name(LinkKind::pcie), "pcie");
  EXPECT_EQ(name(LinkKind::c2c), "c2c");
  EXPECT_EQ(name(LinkKind::socket), "socket");
  EXPECT_EQ(name(LinkKind::network), "network");
}

}  // namespace
}  // namespace stepcast::topology
