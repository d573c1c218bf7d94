// What NVIDIA topograph makes: labels of Kubernetes nodes, and its engine graph's JSON. Their forms are those of
// github.com/NVIDIA/topograph, docs/engines/k8s.md, docs/reference/node-labels.md and docs/engines/graph.md, and of
// Kubernetes' API; the texts are our own.

#include "language/sites/topograph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/sites/slurm_topology.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string kubernetes_node(const std::string& name, const std::string& labels, const std::string& ready = "True") {
  return R"({"kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {)" + labels +
         R"(}}, "spec": {"taints": []}, "status": {"capacity": {"cpu": "112", "nvidia.com/gpu": "8"}, "conditions":)" +
         R"( [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ")" + ready + R"("}]}})";
}

std::string tiers(const std::string& leaf, const std::string& spine) {
  return R"("fabric.topograph.run/tier-0": ")" + leaf + R"(", "fabric.topograph.run/tier-1": ")" + spine + '"';
}

SiteOfLabels read_nodes(const std::string& nodes, const std::vector<std::string>& labels = {}) {
  return read_topograph(R"({"apiVersion": "v1", "kind": "List", "items": [)" + nodes + "]}", "nodes.json", labels);
}

TEST(Topograph, ReadsTheTiersOfKubernetesNodes) {
  const SiteOfLabels told =
      read_nodes(kubernetes_node("gpu-1", tiers("s1", "s3")) + "," +
                 kubernetes_node("gpu-2", tiers("s2", "s3"), "Unknown") + "," + kubernetes_node("login", ""));
  ASSERT_EQ(told.site.switches.size(), 3u);
  EXPECT_EQ(told.site.switches[0].name, "s1");
  EXPECT_THAT(told.site.switches[0].nodes, ElementsAre("gpu-1"));
  EXPECT_EQ(told.site.switches[1].name, "s3");
  ASSERT_EQ(told.site.cables.size(), 2u);
  EXPECT_EQ(told.site.cables[1].below, "s2");
  EXPECT_EQ(told.site.cables[1].above, "s3");
  EXPECT_FALSE(told.site.cables[1].bandwidth);
  EXPECT_THAT(told.site.remarks, ElementsAre(HasSubstr("on: login.")));
  ASSERT_EQ(told.nodes.size(), 3u);
  EXPECT_EQ(told.nodes[0].gpus, 8u);
  EXPECT_TRUE(told.nodes[0].up);
  EXPECT_FALSE(told.nodes[1].up);
}

TEST(Topograph, ReadsLabelsOfEarlierReleasesAndOthers) {
  const std::string old =
      R"("network.topology.nvidia.com/leaf": "l/1", "network.topology.nvidia.com/spine": "sp",)"
      R"("network.topology.nvidia.com/core": "c", "network.topology.nvidia.com/accelerator": "nvl1")";
  const Site site = read_nodes(kubernetes_node("n1", old)).site;
  ASSERT_EQ(site.switches.size(), 3u);
  EXPECT_EQ(site.switches[0].name, "l-1") << "what a list of switches cannot hold";
  EXPECT_EQ(site.switches[2].name, "c");
  EXPECT_THAT(site.remarks, ElementsAre(HasSubstr("Accelerator domains are not used")));
  const Site other = read_nodes(kubernetes_node("n1", R"("a/rack": "r1", "a/row": "w1")"), {"a/rack", "a/row"}).site;
  EXPECT_EQ(other.cables.at(0).above, "w1");
}

TEST(Topograph, TakesAcceleratorDomainsForLeavesWhereThereAreNoSwitches) {
  const auto domain = [](const std::string& name) { return R"("accelerator.topograph.run/domain": ")" + name + '"'; };
  const Site site =
      read_nodes(kubernetes_node("n1", domain("nvl1")) + "," + kubernetes_node("n2", domain("nvl2"))).site;
  EXPECT_EQ(site.switches.size(), 3u);
  EXPECT_THAT(site.remarks, ElementsAre(HasSubstr("Accelerator domains say which nodes are near each other")));
}

TEST(Topograph, ReadsTheJsonOfItsEngineGraph) {
  const SiteOfLabels told = read_topograph(
      R"({"instances": [{"id": "I21", "type": "H100", "network_layers": ["leaf-a", "spine-a"], "attributes": )"
      R"({"nvlink": "nvl-1"}}, {"id": "I22", "network_layers": ["leaf-b", "spine-a"]}]})",
      "g.json", {});
  EXPECT_EQ(told.site.switches.size(), 3u);
  EXPECT_EQ(told.site.cables.size(), 2u);
  EXPECT_THAT(told.nodes, IsEmpty());
}

// What its engines slurm and slinky write: names of blocks in comments, blocks that hold a place, nodes of no switch.
TEST(Topograph, WritesTopologyConfThatIsRead) {
  const Site blocks = read_slurm_topology(
      "# block001=nvl-1\nBlockName=block001 Nodes=n[1-4]\n# block002=nvl-2\nBlockName=block002 Nodes=n[5-8]\n"
      "BlockName=block003\nBlockSizes=4,16\n",
      "topology.conf");
  EXPECT_EQ(blocks.switches.size(), 3u);
  const Site tree = read_slurm_topology(
      "SwitchName=no-topology Nodes=cpu1\nSwitchName=spine Switches=tor[1-2]\nSwitchName=tor1 Nodes=n[1-2]\n"
      "SwitchName=tor2 Nodes=n[3-4]\n",
      "topology.conf");
  EXPECT_EQ(tree.switches.size(), 4u);
}

TEST(Topograph, SaysWhatIsWrong) {
  const auto said = [](const std::string& text) { return complaint([&] { read_topograph(text, "n.json", {}); }); };
  EXPECT_THAT(said("{\n\"items\": [}"), HasSubstr("n.json:2:11: "));
  EXPECT_THAT(said("{}"), HasSubstr("n.json: found neither items nor instances"));
  EXPECT_THAT(said(R"({"items": [{}]})"), HasSubstr("n.json: items[0]: found no metadata.name"));
  EXPECT_THAT(said(R"({"items": [{"metadata": {"name": "a b"}}]})"), HasSubstr("items[0]: found the node name 'a b'"));
  EXPECT_THAT(said(R"({"items": [{"metadata": {"name": "a"}}]})"), HasSubstr("no node with a label that names"));
  EXPECT_THAT(said(R"({"instances": [{"id": "a", "network_layers": [1]}]})"),
              HasSubstr("instances[0]: network_layers: expected names of switches"));
  EXPECT_THAT(
      said(R"({"instances": [{"id": "a", "network_layers": ["x", "y"]}, {"id": "b", "network_layers": ["y"]}]})"),
      HasSubstr("found 'y' 1 and 0 switches above a node, expected a switch to be of one tier"));
  EXPECT_THAT(said(R"({"instances": [{"id": "a", "network_layers": ["x"]}, {"id": "a", "network_layers": ["x"]}]})"),
              HasSubstr("instances[1]: found the node 'a' a second time"));
}

}  // namespace
}  // namespace stepcast::language
