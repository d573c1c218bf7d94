#include "topology/host_path.h"

#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

TEST(HostPath, GoesOverPcieToTheGpusOwnSocketAndBack) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 16);
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    const auto out = host_path(cluster, GpuId{gpu}, ToHost::yes), back = host_path(cluster, GpuId{gpu}, ToHost::no);
    ASSERT_TRUE(out && back) << gpu;
    EXPECT_EQ(cluster.link(out->links.front()).from, cluster.name(GpuId{gpu}));
    EXPECT_NE(cluster.link(out->links.back()).to.find("cpu"), std::string::npos);
    EXPECT_EQ(cluster.link(out->links.back()).to, cluster.link(back->links.front()).from);
    EXPECT_EQ(cluster.link(back->links.back()).to, cluster.name(GpuId{gpu}));
    EXPECT_EQ(out->bandwidth, back->bandwidth);
    for (const LinkId link : out->links) EXPECT_EQ(cluster.link(link).kind, LinkKind::pcie);
  }
}

}  // namespace
}  // namespace stepcast::topology
