// What ibnetdiscover and iblinkinfo print. Their forms are those of rdma-core's infiniband-diags (ibnetdiscover.c,
// iblinkinfo.c and their manual pages); the texts are our own.

#include "language/sites/infiniband.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "language/sites/cluster_of_site.h"
#include "language/sites/iblinkinfo.h"
#include "language/sites/ibnetdiscover.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Two nodes of two adapters each on two leaf switches, two cables to each of two spines; one link has lost half of its
/// lanes. SHARP's aggregation node sits on a spine.
constexpr const char* kDiscovered = R"(#
# Topology file: generated on Tue Nov 24 09:30:00 2026
#
# Initiated from node 946dae0300a10001 port 946dae0300a10001

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xfc6a1c03001e0001
switchguid=0xfc6a1c03001e0001(fc6a1c03001e0001)
Switch	65 "S-fc6a1c03001e0001"		# "MF0;leaf01:MQM9700/U1" enhanced port 0 lid 2 lmc 0
[1]	"H-946dae0300a10001"[1](946dae0300a10001) 		# "gpu1 mlx5_9" lid 11 4xNDR
[2]	"H-946dae0300a20001"[1](946dae0300a20001) 		# "gpu2 mlx5_9" lid 12 2xNDR
[33]	"S-fc6a1c0300200001"[1]		# "MF0;spine1:MQM9700/U1" lid 4 4xNDR
[34]	"S-fc6a1c0300200001"[2]		# "MF0;spine1:MQM9700/U1" lid 4 4xNDR
[35]	"S-fc6a1c0300200002"[1]		# "MF0;spine2:MQM9700/U1" lid 5 4xNDR
[36]	"S-fc6a1c0300200002"[2]		# "MF0;spine2:MQM9700/U1" lid 5 4xNDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xfc6a1c03001e0002
switchguid=0xfc6a1c03001e0002(fc6a1c03001e0002)
Switch	65 "S-fc6a1c03001e0002"		# "MF0;leaf02:MQM9700/U1" enhanced port 0 lid 3 lmc 0
[1]	"H-946dae0300a10002"[1](946dae0300a10002) 		# "gpu1 mlx5_10" lid 13 4xNDR
[2]	"H-946dae0300a20002"[1](946dae0300a20002) 		# "gpu2 mlx5_10" lid 14 4xNDR
[33]	"S-fc6a1c0300200001"[3]		# "MF0;spine1:MQM9700/U1" lid 4 4xHDR
[35]	"S-fc6a1c0300200002"[3]		# "MF0;spine2:MQM9700/U1" lid 5 4xHDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xfc6a1c0300200001
switchguid=0xfc6a1c0300200001(fc6a1c0300200001)
Switch	65 "S-fc6a1c0300200001"		# "MF0;spine1:MQM9700/U1" enhanced port 0 lid 4 lmc 0
[1]	"S-fc6a1c03001e0001"[33]		# "MF0;leaf01:MQM9700/U1" lid 2 4xNDR
[2]	"S-fc6a1c03001e0001"[34]		# "MF0;leaf01:MQM9700/U1" lid 2 4xNDR
[3]	"S-fc6a1c03001e0002"[33]		# "MF0;leaf02:MQM9700/U1" lid 3 4xHDR
[65]	"H-fc6a1c0300200009"[1](fc6a1c0300200009) 		# "Mellanox Technologies Aggregation Node" lid 20 4xNDR

switchguid=0xfc6a1c0300200002(fc6a1c0300200002)
Switch	65 "S-fc6a1c0300200002"		# "MF0;spine2:MQM9700/U1" enhanced port 0 lid 5 lmc 0

caguid=0xfc6a1c0300200009
Ca	1 "H-fc6a1c0300200009"		# "Mellanox Technologies Aggregation Node"

caguid=0x946dae0300a10001
Ca	1 "H-946dae0300a10001"		# "gpu1 mlx5_9"
[1](946dae0300a10001) 	"S-fc6a1c03001e0001"[1]		# lid 11 lmc 0 "MF0;leaf01:MQM9700/U1" lid 2 4xNDR

caguid=0x946dae0300a10002
Ca	1 "H-946dae0300a10002"		# "gpu1 mlx5_10"
[1](946dae0300a10002) 	"S-fc6a1c03001e0002"[1]		# lid 13 lmc 0 "MF0;leaf02:MQM9700/U1" lid 3 4xNDR s=4 w=2 v=5

caguid=0x946dae0300a20001
Ca	1 "H-946dae0300a20001"		# "gpu2 mlx5_9"
caguid=0x946dae0300a20002
Ca	1 "H-946dae0300a20002"		# "gpu2 mlx5_10"
)";

/// The same fabric.
constexpr const char* kLinks =
    R"(CA: gpu1 mlx5_9:
      0x946dae0300a10001     11    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       2    1[  ] "MF0;leaf01:MQM9700/U1" ( )
CA: gpu1 mlx5_10:
      0x946dae0300a10002     13    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       3    1[  ] "MF0;leaf02:MQM9700/U1" ( )
Switch: 0xfc6a1c03001e0001 MF0;leaf01:MQM9700/U1:
           2    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>      11    1[  ] "gpu1 mlx5_9" ( )
           2    2[  ] ==( 2X         106.25 Gbps Active/  LinkUp)==>      12    1[  ] "gpu2 mlx5_9" (Could be 4X )
           2    3[  ] ==(                  Down/ Polling)==>             [  ] "" ( )
           2    4[  ] ==( 4X         106.25 Gbps Initialize/  LinkUp)==>      77    1[  ] "gpu3 mlx5_9" ( )
           2   33[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       4    1[  ] "MF0;spine1:MQM9700/U1" ( )
           2   34[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       4    2[  ] "MF0;spine1:MQM9700/U1" ( )
           2   35[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       5    1[  ] "MF0;spine2:MQM9700/U1" ( )
           2   36[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       5    2[  ] "MF0;spine2:MQM9700/U1" ( )
Switch: 0xfc6a1c03001e0002 MF0;leaf02:MQM9700/U1:
           3    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>      13    1[  ] "gpu1 mlx5_10" ( )
           3    2[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>      14    1[  ] "gpu2 mlx5_10" ( )
           3   33[  ] ==( 4X         53.125 Gbps Active/  LinkUp)==>       4    3[  ] "MF0;spine1:MQM9700/U1" ( Could be 106.25 Gbps)
           3   35[  ] ==( 4X         53.125 Gbps Active/  LinkUp)==>       5    3[  ] "MF0;spine2:MQM9700/U1" ( )
Switch: 0xfc6a1c0300200001 MF0;spine1:MQM9700/U1:
           4    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       2   33[  ] "MF0;leaf01:MQM9700/U1" ( )
           4    3[  ] ==( 4X         53.125 Gbps Active/  LinkUp)==>       3   33[  ] "MF0;leaf02:MQM9700/U1" ( )
           4   65[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>      20    1[  ] "Mellanox Technologies Aggregation Node" ( )
Switch: 0xfc6a1c0300200002 MF0;spine2:MQM9700/U1:
           5    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>       2   35[  ] "MF0;leaf01:MQM9700/U1" ( )
)";

Site discovered(const std::string& text, const std::vector<std::string>& hcas = {}) {
  return site_of_infiniband(read_ibnetdiscover(text, "net.txt"), hcas, "net.txt");
}

Site linked(const std::string& text) { return site_of_infiniband(read_iblinkinfo(text, "links.txt"), {}, "links.txt"); }

std::string said_of(const SiteCables& cable) {
  return cable.below + "-" + cable.above + " " + std::to_string(std::lround(cable.bandwidth->value * 8e-9)) + "x" +
         std::to_string(cable.count);
}

std::vector<std::string> cables_of(const Site& site) {
  std::vector<std::string> all;
  for (const SiteCables& cable : site.cables) all.push_back(said_of(cable));
  return all;
}

void expect_the_fabric(const Site& site) {
  ASSERT_EQ(site.switches.size(), 4u);
  EXPECT_EQ(site.switches[0].name, "leaf01");
  EXPECT_THAT(site.switches[0].nodes, ElementsAre("gpu1", "gpu2"));
  EXPECT_THAT(site.switches[0].nics, ElementsAre(0u)) << "mlx5_9 comes before mlx5_10";
  EXPECT_THAT(site.switches[1].nics, ElementsAre(1u));
  EXPECT_EQ(site.switches[3].name, "spine2");
  EXPECT_THAT(cables_of(site),
              ElementsAre("leaf01-spine1 400x2", "leaf01-spine2 400x2", "leaf02-spine1 200x1", "leaf02-spine2 200x1"));
  EXPECT_EQ(site.cards.at("gpu1").count, 2u);
  EXPECT_DOUBLE_EQ(site.cards.at("gpu1").slowest.value, 50e9);
  EXPECT_DOUBLE_EQ(site.cards.at("gpu2").slowest.value, 25e9) << "two lanes";
  EXPECT_THAT(site.remarks, ElementsAre(HasSubstr("Card i of a node is the i-th of its adapters"),
                                        HasSubstr("'Mellanox Technologies Aggregation Node' (1 port)")));
}

TEST(Ibnetdiscover, IsSwitchesCablesAndCards) { expect_the_fabric(discovered(kDiscovered)); }

TEST(Iblinkinfo, IsSwitchesCablesAndCards) { expect_the_fabric(linked(kLinks)); }

TEST(Ibnetdiscover, SaysWhereSwitchesAndCablesStand) {
  const Site site = discovered(kDiscovered);
  EXPECT_EQ(text(site.switches[1].place), "net.txt:22:1");
  EXPECT_EQ(text(site.cables[0].place), "net.txt:13:1");
}

TEST(Ibnetdiscover, CountsTheAdaptersThatAreAskedFor) {
  const Site site = discovered(kDiscovered, {"mlx5_10"});
  EXPECT_EQ(site.cards.at("gpu1").count, 1u);
  EXPECT_EQ(site.switches[0].name, "leaf02") << "leaf01 has none of them: it is above";
  EXPECT_TRUE(site.switches[0].nics.empty());
  EXPECT_THAT(complaint([] { discovered(kDiscovered, {"mlx5_1"}); }), HasSubstr("none of the adapters of --hcas"));
}

TEST(Ibnetdiscover, TellsSwitchesOfOneDescriptionApart) {
  const Site site = discovered(
      "Switch 36 \"S-0001\" # \"Quantum Mellanox Technologies\" base port 0 lid 1 lmc 0\n[1] \"H-a\"[1](a) # \"n1\" "
      "lid 3 "
      "4xHDR\n[2] \"S-0002\"[2] # \"Quantum Mellanox Technologies\" lid 2 4xHDR\nSwitch 36 \"S-0002\" # \"Quantum "
      "Mellanox "
      "Technologies\" base port 0 lid 2 lmc 0\n[1] \"H-b\"[1](b) # \"n2\" lid 4 4xHDR\nCa 1 \"H-a\" # \"n1\"\nCa 1 "
      "\"H-b\" # "
      "\"n2\"\n");
  EXPECT_THAT(cables_of(site),
              ElementsAre("Quantum-Mellanox-Technologies-S-1-Quantum-Mellanox-Technologies-S-2 200x1"));
}

TEST(Ibnetdiscover, SaysWhereItIsWrong) {
  const auto said = [](const std::string& text) { return complaint([&] { discovered(text); }); };
  const std::string leaf = "Switch 36 \"S-01\" # \"leaf\" base port 0 lid 1 lmc 0\n";
  EXPECT_THAT(said("# a comment\n"), HasSubstr("net.txt: found no Switch and no Ca"));
  EXPECT_THAT(said("Switch : 0x01 ports 36 \"leaf\"\n"), HasSubstr("net.txt:1:8: found ': 0x01 ports 36"));
  EXPECT_THAT(said("\nSW 1 leaf\n"), HasSubstr("net.txt:2:1: found 'SW 1 leaf', expected a line that ibnetdiscover"));
  EXPECT_THAT(said("[1] \"H-a\"[1](a) # \"n1\" lid 3 4xHDR\n"), HasSubstr("net.txt:1:1: found a port before any"));
  EXPECT_THAT(said(leaf + "[1] \"H-a\"[1](a) # \"n1 mlx5_0\" lid 3 4xGDR\n"),
              HasSubstr("net.txt:2:37: found the link speed '4xGDR', expected lanes and a speed from SDR to XDR"));
  EXPECT_THAT(said(leaf + "[1] \"H-a\"[1](a) # \"n1 mlx5_0\" lid 3\n"), HasSubstr("net.txt:2:36: found no link speed"));
  EXPECT_THAT(said(leaf + "[1] \"H-a\"[1](a) # \"n1 mlx5_0\" lid 3 4xHDR\n"),
              HasSubstr("net.txt:2:1: found a port of 'H-a', which no line describes"));
  EXPECT_THAT(said(leaf + "[x] \"H-a\"[1]\n"), HasSubstr("net.txt:2:2: found 'x]"));
  EXPECT_THAT(said(leaf + leaf),
              HasSubstr("net.txt:2:1: found 'S-1' a second time, expected it once (first on line 1)"));
  EXPECT_THAT(said(leaf), HasSubstr("found no adapter on a switch that is named after its node"));
}

TEST(Iblinkinfo, SaysWhereItIsWrong) {
  const auto said = [](const std::string& text) { return complaint([&] { linked(text); }); };
  const std::string leaf = "Switch: 0x01 leaf:\n";
  EXPECT_THAT(said("\n"), HasSubstr("links.txt: found no Switch and no CA"));
  EXPECT_THAT(said("0x01 \"leaf\"  4  3[  ] ==( 4X 25.78 Gbps Active/  LinkUp)==>  0x02  15  1[  ] \"n1\" ( )\n"),
              HasSubstr("links.txt:1:1: found '0x01 \"leaf\""));
  EXPECT_THAT(said("   4  3[  ] ==( Down/ Polling)==>\n"), HasSubstr("links.txt:1:4: found '4  3["));
  EXPECT_THAT(said(leaf + "  4  3[  ] ==( 4X 30.0 Gbps Active/  LinkUp)==>  15  1[  ] \"n1\" ( )\n"),
              HasSubstr("links.txt:2:16: found a link of '4X 30.0' Gbps"));
  EXPECT_THAT(said(leaf + "  4  3[  ] ==( 4X 25.78 Gbps Active/  LinkUp)==>  n1\n"), HasSubstr("expected a number"));
  EXPECT_THAT(said(leaf + "  4  3[  ] ==( Down/ Polling)==>\nSwitch: 0x02 other:\n  4  1[  ] ==( Down/ Polling)==>\n"),
              HasSubstr("links.txt:3:1: found a switch of LID 4 a second time"));
}

TEST(InfinibandSpeed, IsWhatLinksAreSoldBy) {
  const auto gbit = [](const char* width, const char* speed) {
    return infiniband_bandwidth(width, speed)->value * 8e-9;
  };
  EXPECT_DOUBLE_EQ(gbit("4x", "QDR"), 32);
  EXPECT_NEAR(gbit("4X", "FDR"), 54.5, 0.1);
  EXPECT_DOUBLE_EQ(gbit("4x", "EDR"), 100);
  EXPECT_DOUBLE_EQ(gbit("2x", "NDR"), 200);
  EXPECT_DOUBLE_EQ(gbit("4x", "XDR"), 800);
  EXPECT_FALSE(infiniband_bandwidth("3x", "NDR"));
  EXPECT_FALSE(infiniband_bandwidth("4x", "???"));
  EXPECT_EQ(infiniband_speed(25.78), "EDR");
  EXPECT_FALSE(infiniband_speed(30));
}

/// `nodes` machines of eight adapters on eight leaf switches, one of each on each, and two spines.
std::string rails(int nodes, const std::string& last_adapter = "mlx5_7") {
  std::string out;
  for (int rail = 0; rail < 8; ++rail) {
    out +=
        "Switch 65 \"S-1" + std::to_string(rail) + "\" # \"MF0;rail" + std::to_string(rail) + ":MQM9700/U1\" lid 1\n";
    for (int node = 1; node <= nodes; ++node)
      out += "[" + std::to_string(node) + "] \"H-a" + std::to_string(node) + std::to_string(rail) + "\"[1](a) # \"gpu" +
             std::to_string(node) + (rail < 7 ? " mlx5_" + std::to_string(rail) : " " + last_adapter) +
             "\" lid 9 4xNDR\n";
    for (int spine = 0; spine < 2; ++spine)
      out += "[" + std::to_string(33 + spine) + "] \"S-2" + std::to_string(spine) + "\"[" + std::to_string(rail + 1) +
             "] # \"spine\" lid 2 4xNDR\n";
  }
  for (int spine = 0; spine < 2; ++spine)
    out += "Switch 65 \"S-2" + std::to_string(spine) + "\" # \"MF0;spine" + std::to_string(spine) +
           ":MQM9700/U1\" lid 2\n";
  for (int rail = 0; rail < 8; ++rail)
    for (int node = 1; node <= nodes; ++node)
      out += "Ca 1 \"H-a" + std::to_string(node) + std::to_string(rail) + "\" # \"gpu" + std::to_string(node) +
             (rail < 7 ? " mlx5_" + std::to_string(rail) : " " + last_adapter) + "\"\n";
  return out;
}

TEST(ClusterOfInfiniband, HasRailsAndOneLineForCablesThatAreAlike) {
  Library library = configs();
  SiteAnswers answers;
  answers.node = "dgx-h100";
  answers.made_by = "a test";
  const std::string cluster = cluster_of_site(discovered(rails(4)), answers, library);
  EXPECT_THAT(cluster, AllOf(HasSubstr("nodelist: 'gpu[1-4]'"),
                             HasSubstr("- {name: 'rail0', nodes: 'gpu[1-4]', nics: '0'}  # net.txt:1:1"),
                             HasSubstr("- {from: 'rail[0-7]', to: 'spine[0-1]', bandwidth: 400 Gbit/s, count: 1}"),
                             Not(HasSubstr("assumed: it leads up"))));
}

TEST(ClusterOfInfiniband, LeavesOutNodesThatAreCabledOtherwise) {
  Library library = configs();
  SiteAnswers answers;
  answers.node = "dgx-h100";
  std::string text = rails(2);
  const std::string extra = "[50] \"H-b1\"[1](b1) # \"gpu2 mlx5_8\" lid 9 4xNDR\n";
  text = text.substr(0, text.find('\n') + 1) + extra + text.substr(text.find('\n') + 1) +
         "Ca 1 \"H-b1\" # \"gpu2 mlx5_8\"\n";
  EXPECT_THAT(
      cluster_of_site(discovered(text), answers, library),
      HasSubstr("# Left out, as they do not have the 8 network cards of dgx-h100 on this network: gpu2. (--hcas"));
  answers.nodelist = "gpu[1-2]";
  answers.nodelist_from = "--nodelist";
  EXPECT_THAT(complaint([&] { cluster_of_site(discovered(text), answers, library); }),
              HasSubstr("--nodelist: found the node 'gpu2' with 9 network cards on this network, expected the 8"));
  EXPECT_THAT(cluster_of_site(
                  discovered(text, {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"}),
                  answers, library),
              HasSubstr("nodelist: 'gpu[1-2]'"));
}

}  // namespace
}  // namespace stepcast::language
