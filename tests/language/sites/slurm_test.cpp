// Slurm's topology.conf, topology.yaml and what `scontrol show nodes` prints. Their forms are those of topology.conf(5)
// (slurm.schedmd.com/topology.conf.html), topology.yaml(5) and scontrol(1); the texts are our own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/sites/cluster_of_site.h"
#include "language/sites/slurm_nodes.h"
#include "language/sites/slurm_topology.h"
#include "language/sites/slurm_topology_yaml.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTree =
    "# three leaves\n"
    "SwitchName=leaf1 Nodes=gpu[001-002] LinkSpeed=400\n"
    "switchname=leaf2 nodes=gpu[003-004]\n"
    "SwitchName=leaf3 \\\n  Nodes=gpu005,cpu[1-2]   # and nodes without GPUs\n"
    "SwitchName=spine Switches=leaf[1-3]\n";

constexpr const char* kNodes =
    "NodeName=gpu001 Arch=x86_64 CoresPerSocket=56 \n"
    "   CPUAlloc=0 CPUEfctv=112 CPUTot=112 CPULoad=0.05\n"
    "   Gres=gpu:h100:8(S:0-1)\n"
    "   OS=Linux 5.15.0-1053-nvidia #54-Ubuntu SMP \n"
    "   RealMemory=2000000 AllocMem=0 Sockets=2 Boards=1\n"
    "   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1\n\n"
    "NodeName=gpu002 Gres=gpu:8 State=DOWN*+DRAIN\n"
    "NodeName=gpu003 Gres=gpu:nvidia_h100_80gb_hbm3:8,tmpfs:1 State=MIXED\n"
    "NodeName=gpu004 Gres=gpu:a100:4 State=IDLE\n"
    "NodeName=gpu005 Gres=gpu:h100:8 State=ALLOCATED\n"
    "NodeName=cpu1 Gres=(null) State=IDLE\n";

std::string topology_complaint(const std::string& text) {
  return complaint([&] { read_slurm_topology(text, "topology.conf"); });
}

TEST(SlurmTopology, IsSwitchesWithNodesAndSwitchesAboveThem) {
  const Site site = read_slurm_topology(kTree, "topology.conf");
  ASSERT_EQ(site.switches.size(), 4u);
  EXPECT_THAT(site.switches[0].nodes, ElementsAre("gpu001", "gpu002"));
  EXPECT_THAT(site.switches[2].nodes, ElementsAre("gpu005", "cpu1", "cpu2"));
  EXPECT_EQ(text(site.switches[3].place), "topology.conf:6:1");
  ASSERT_EQ(site.cables.size(), 3u);
  EXPECT_EQ(site.cables[1].below, "leaf2");
  EXPECT_EQ(site.cables[1].above, "spine");
  EXPECT_THAT(site.remarks, ElementsAre(HasSubstr("LinkSpeed is not used")));
}

TEST(SlurmTopology, TakesBlocksForLeaves) {
  const Site site =
      read_slurm_topology("BlockName=b1 Nodes=n[1-18]\nBlockName=b2 Nodes=n[19-36]\nBlockSizes=18,36\n", "t");
  EXPECT_EQ(site.switches.size(), 3u);
  EXPECT_EQ(site.cables.size(), 2u);
  EXPECT_THAT(site.remarks, ElementsAre(HasSubstr("not by what")));
}

TEST(SlurmTopology, SaysWhereItIsWrong) {
  EXPECT_EQ(
      topology_complaint("SwitchName=a Nodes=n1 Speed=3\n"),
      "topology.conf:1:23: found the unknown key 'Speed', expected one of SwitchName, Switches, Nodes, LinkSpeed; "
      "did you mean 'LinkSpeed'?");
  EXPECT_THAT(topology_complaint("\nSwitchName=a Nodes=n[1\n"),
              HasSubstr("topology.conf:2:20: Nodes: list of nodes 'n[1'"));
  EXPECT_THAT(topology_complaint("SwitchName=a\n"), HasSubstr("a switch with neither of Nodes and Switches"));
  EXPECT_THAT(topology_complaint("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n"),
              HasSubstr("topology.conf:2:12: SwitchName: found 'a' a second time"));
  EXPECT_THAT(topology_complaint("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n"),
              HasSubstr("found the node 'n1' on 'a' and on 'b'"));
  EXPECT_THAT(topology_complaint("SwitchName=aa Nodes=n1\nSwitchName=b Switches=ab\n"),
              HasSubstr("topology.conf:2:23: Switches: found 'ab', which no line names; did you mean 'aa'?"));
  EXPECT_THAT(topology_complaint("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"), HasSubstr("inside itself"));
  EXPECT_THAT(topology_complaint("leaf1: n1\n"),
              HasSubstr("topology.conf:1:1: found 'leaf1:', expected pairs such as"));
  EXPECT_THAT(topology_complaint("NodeName=n1\n"), HasSubstr("found a line that begins with 'NodeName'"));
  EXPECT_THAT(topology_complaint("# nothing\n"), HasSubstr("found no switch and no block"));
}

constexpr const char* kTopologies =
    "---\n"
    "- topology: ib  # of the GPU nodes\n"
    "  cluster_default: True\n"
    "  tree:\n"
    "    switches:\n"
    "      - switch: root\n"
    "        children: s[1-2]\n"
    "      - switch: s1\n"
    "        nodes: node[1-2]\n"
    "      - switch: s2\n"
    "        nodes: node3,node4\n"
    "- topology: nvl\n"
    "  cluster_default: false\n"
    "  block:\n"
    "    block_sizes:\n"
    "      - 2\n"
    "      - 4\n"
    "    blocks:\n"
    "    - block: b1\n"
    "      nodes: node[1-2]\n"
    "    - block: b2\n"
    "      nodes: node[3-4]\n"
    "    - block: b3\n"
    "- topology: plain\n"
    "  flat: true\n";

TEST(SlurmTopologyYaml, IsTheClustersDefaultOrTheOneAskedFor) {
  const Site tree = read_slurm_topology_yaml(kTopologies, "topology.yaml", "");
  ASSERT_EQ(tree.switches.size(), 3u);
  EXPECT_EQ(text(tree.switches[0].place), "topology.yaml:6:9");
  EXPECT_THAT(tree.switches[2].nodes, ElementsAre("node3", "node4"));
  EXPECT_EQ(tree.cables[1].below, "s2");
  const Site blocks = read_slurm_topology_yaml(kTopologies, "topology.yaml", "nvl");
  EXPECT_EQ(blocks.switches.size(), 3u);
  EXPECT_THAT(blocks.remarks, ElementsAre(HasSubstr("not by what")));
}

TEST(SlurmTopologyYaml, SaysWhereItIsWrong) {
  const auto said = [](const std::string& text, const std::string& chosen = "") {
    return complaint([&] { read_slurm_topology_yaml(text, "t.yaml", chosen); });
  };
  const std::string head = "- topology: a\n  tree:\n    switches:\n";
  EXPECT_THAT(said(kTopologies, "ibb"), HasSubstr("--topology: found 'ibb', expected one of ib, nvl, plain"));
  EXPECT_THAT(said(kTopologies, "plain"), HasSubstr("t.yaml:24:3: found a flat topology"));
  EXPECT_THAT(said("topology: a\n"), HasSubstr("t.yaml:1:1: found a mapping, expected a list of topologies"));
  EXPECT_THAT(said("- topology: a\n"), HasSubstr("t.yaml:1:3: found a topology that is not exactly one of"));
  EXPECT_THAT(said("- topology: a\n  tre: {}\n"),
              HasSubstr("t.yaml:2:3: found the unknown key 'tre' of a topology, expected one of topology, "
                        "cluster_default, tree, block, flat, ring, torus3d; did you mean 'tree'?"));
  // Others of the file that are not read are no hindrance.
  const std::string rings =
      "- topology: r\n  ring:\n    rings:\n    - ring: a\n      nodes: n[1-4]\n- topology: c\n  torus3d: {}\n";
  EXPECT_EQ(said(kTopologies + rings), "");
  EXPECT_EQ(said(head + "    - {switch: s, nodes: n1}\n" + rings), "");  // nor make the one tree one of several
  EXPECT_THAT(said(kTopologies + rings, "r"), HasSubstr("found a topology of kind ring, which has no switches"));
  EXPECT_THAT(said(head + "    - switch: s\n"), HasSubstr("t.yaml:4:7: found a switch with neither of nodes and"));
  EXPECT_THAT(said(head + "    - switch: s\n      nodes: n[1\n"), HasSubstr("t.yaml:5:14: nodes: list of nodes 'n[1'"));
  EXPECT_THAT(said(head + "    - switch: s\n      children: t\n"),
              HasSubstr("t.yaml:5:17: children: found 't', which no line names"));
  EXPECT_THAT(said(head + "    - {switch: s, nodes: n1}\n    - {switch: s, nodes: n2}\n"),
              HasSubstr("t.yaml:5:16: switch: found 's' a second time"));
  EXPECT_THAT(said("- {topology: a, flat: true}\n"), HasSubstr("t.yaml: found no topology with switches or blocks"));
  EXPECT_THAT(said("- topology: a\n  tree: {switches: []}\n"), HasSubstr("t.yaml:1:3: found no switch and no block"));
}

TEST(SlurmNodes, HaveGpusAndStates) {
  const std::vector<SiteNode> nodes = read_slurm_nodes(kNodes, "nodes.txt");
  ASSERT_EQ(nodes.size(), 6u);
  EXPECT_EQ(nodes[0].gpus, 8u);
  EXPECT_EQ(nodes[0].gpu, "h100");
  EXPECT_TRUE(nodes[0].up);
  EXPECT_FALSE(nodes[1].up);
  EXPECT_EQ(nodes[2].gpu, "nvidia_h100_80gb_hbm3");
  EXPECT_EQ(nodes[5].gpus, 0u);
  EXPECT_THAT(complaint([] { read_slurm_nodes("State=IDLE\n", "n"); }),
              HasSubstr("n:1:1: found 'State' before any NodeName"));
  EXPECT_THAT(complaint([] { read_slurm_nodes("NodeName=a\nNodeName=a\n", "n"); }),
              HasSubstr("n:2:10: NodeName: found 'a' a second"));
  EXPECT_THAT(complaint([] { read_slurm_nodes("NodeName=a Gres=gpu:h100:x\n", "n"); }),
              HasSubstr("expected GPUs such as gpu:h100:8"));
  EXPECT_THAT(complaint([] { read_slurm_nodes("\n", "n"); }), HasSubstr("n: found no NodeName"));
}

TEST(ClusterOfSite, SaysWhatWasAssumed) {
  Library library = configs();
  SiteAnswers answers;
  answers.node = "dgx-h100";
  answers.made_by = "a test";
  answers.nodes = read_slurm_nodes(kNodes, "nodes.txt");
  const Site site = read_slurm_topology(kTree, "topology.conf");
  const std::string text = cluster_of_site(site, answers, library);
  EXPECT_THAT(
      text, HasSubstr("# Left out, as they do not have the 8 GPUs of dgx-h100: gpu004,cpu[1-2].\n# Not up: gpu002.\n"));
  EXPECT_THAT(text, HasSubstr("nodelist: 'gpu[001,003,005]'  # all that are up"));
  EXPECT_THAT(text, HasSubstr("- {from: 'leaf1', to: 'spine', bandwidth: 6400 Gbit/s}  # topology.conf:6:27; assumed"));
  EXPECT_THAT(text, HasSubstr("- {name: 'leaf3', nodes: 'gpu005'}  # topology.conf:4:1"));
  answers.nodelist = "gpu[001,004]";
  answers.nodelist_from = "--nodelist";
  EXPECT_THAT(complaint([&] { cluster_of_site(site, answers, library); }),
              HasSubstr("nodes.txt:10:1: found 4 GPUs on node 'gpu004' of the job, expected the 8"));
  answers.nodelist = "gpu009";
  EXPECT_THAT(complaint([&] { cluster_of_site(site, answers, library); }),
              HasSubstr("--nodelist: found the node 'gpu009', which no switch lists; did you mean 'gpu001'?"));
}

}  // namespace
}  // namespace stepcast::language
