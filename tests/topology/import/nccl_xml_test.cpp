#include "topology/import/nccl_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/machines.h"
#include "topology/exports/nccl_xml.h"
#include "topology/matrix.h"

namespace stepcast::topology {
namespace {

/// The kinds of all pairs, a row of the matrix per line.
std::string kinds(const Cluster& cluster) {
  std::string text;
  const std::vector<Pair> all = pairs(cluster, cluster.gpus());
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += all[i].kind;
    text += (i + 1) % cluster.gpus() == 0 ? '\n' : ' ';
  }
  return text;
}

Cluster cluster_of(const NodeSpec& node, std::uint32_t nodes = 1) {
  return build_cluster(node, big_switch(), nodes * node.gpus);
}

constexpr const char* kTwoSockets = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1"><nvlink target="0000:05:00.0" count="6" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1"/></nic>
      </pci>
      <pci busid="0000:04:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90"/></pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:05:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="2" sm="90" rank="2"><nvlink target="0000:02:00.0" count="6" tclass="0x030200"/></gpu>
    </pci>
  </cpu>
</system>)";

TEST(NcclXml, ReadsDevicesAndLinks) {
  const NodeSpec node = import_nccl_xml(kTwoSockets, "two.xml");
  EXPECT_EQ(node.gpus, 3u);
  EXPECT_EQ(node.nics, 1u);
  ASSERT_TRUE(node.nic);
  EXPECT_EQ(node.nic->bandwidth, Bandwidth{50e9});
  const Cluster cluster = cluster_of(node);
  EXPECT_EQ(kinds(cluster), "X PIX SYS\nPIX X NV6\nSYS NV6 X\n");
  EXPECT_DOUBLE_EQ(cluster.path(GpuId{1}, GpuId{2}).bandwidth.value, 6 * 20.6e9);
  EXPECT_DOUBLE_EQ(cluster.path(GpuId{0}, GpuId{1}).bandwidth.value, 32.0 / 8 * 16 * 128 / 130 * 0.825 * 1e9);
  // Gen3 x16 where nothing is stated: narrower than the sockets' 22 GB/s
  EXPECT_DOUBLE_EQ(cluster.path(GpuId{0}, GpuId{2}).bandwidth.value, 8.0 / 8 * 16 * 128 / 130 * 0.825 * 1e9);
}

TEST(NcclXml, SeesAllNvswitchesAsOne) {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\" vendor=\"AuthenticAMD\">";
  for (int g = 0; g < 4; ++g) {
    text += "<pci busid=\"" + std::to_string(g) + "\" class=\"0x030200\"><gpu dev=\"" + std::to_string(g) +
            "\" sm=\"80\"><nvlink target=\"s0\" count=\"6\" tclass=\"0x068000\"/>"
            "<nvlink target=\"s1\" count=\"6\" tclass=\"0x068000\"/></gpu></pci>";
  }
  const Cluster cluster = cluster_of(import_nccl_xml(text + "</cpu></system>", "s.xml"));
  EXPECT_EQ(kinds(cluster), "X NV12 NV12 NV12\nNV12 X NV12 NV12\nNV12 NV12 X NV12\nNV12 NV12 NV12 X\n");
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{3}).bandwidth, Bandwidth{240e9});
}

TEST(NcclXml, NvswitchesAddFromHopperOn) {
  const auto adds = [](const char* sm) {
    const std::string gpu = R"(<pci busid="a" class="0x030200"><gpu dev="0" sm=")" + std::string(sm) +
                            R"("><nvlink target="s" count="18" tclass="0x068000"/></gpu></pci>)";
    return import_nccl_xml("<system><cpu>" + gpu + "</cpu></system>", "s.xml").nvlink_sharp;
  };
  EXPECT_FALSE(adds("80"));
  EXPECT_TRUE(adds("90"));
  EXPECT_TRUE(adds("100"));
  EXPECT_FALSE(import_nccl_xml(kTwoSockets, "two.xml").nvlink_sharp);
}

TEST(NcclXml, IdentifiesGpusWhereAllAreTheSame) {
  const auto identify = [](const std::string& gpus) {
    return identify_gpus("<system><cpu><pci busid=\"s\" class=\"0x060400\">" + gpus + "</pci></cpu></system>", "i.xml");
  };
  const std::string a100 = R"(<pci busid="a" class="0x030200" device="0x20b0"><gpu sm="80"/></pci>)";
  const std::string h100 = R"(<pci busid="b" class="0x030200" device="0x2330"><gpu sm="90"/></pci>)";
  EXPECT_EQ(identify(a100 + a100).pci_device, "0x20b0");
  EXPECT_EQ(identify(a100 + a100).compute_capability, 80u);
  EXPECT_EQ(identify(a100 + h100).pci_device, "");
  EXPECT_EQ(identify(a100 + h100).compute_capability, 0u);
  EXPECT_EQ(identify(R"(<pci busid="a" class="0x038000"><gpu sm="104" gcn="910"/></pci>)").compute_capability, 0u);
  EXPECT_EQ(identify_gpus(kTwoSockets, "two.xml").compute_capability, 90u);
}

TEST(NcclXml, LetsAmdGpusPassOn) {
  const NodeSpec node = import_nccl_xml(
      R"(<system version="2"><cpu numaid="0" vendor="AuthenticAMD">
           <pci busid="a" class="0x038000"><gpu dev="0" sm="104"><xgmi target="b" count="1" tclass="0x038000"/></gpu></pci>
           <pci busid="b" class="0x038000"><gpu dev="1" sm="104"><xgmi target="c" count="2" tclass="0x038000"/></gpu></pci>
           <pci busid="c" class="0x038000"><gpu dev="2" sm="104"/></pci>
         </cpu></system>)",
      "amd.xml");
  EXPECT_EQ(cluster_of(node).path(GpuId{0}, GpuId{2}).kind, PathKind::nvlink);
}

TEST(NcclXml, TakesCardsWithSeveralPorts) {
  const NodeSpec node = import_nccl_xml(
      R"(<system version="1"><cpu numaid="0" vendor="AuthenticAMD">
           <pci busid="a" class="0x030200"><gpu dev="0" sm="80"/></pci>
           <pci busid="n" class="0x020000"><nic><net name="p" speed="100000"/><net name="p" speed="100000"/></nic></pci>
         </cpu></system>)",
      "ports.xml");
  EXPECT_EQ(node.nics, 2u);
  const Path path = cluster_of(node, 2).path(GpuId{0}, GpuId{1});
  EXPECT_LT(path.bandwidth.value, 2 * 12.5e9);  // both ports through the card's one PCIe link
}

TEST(NcclXml, SaysWhatItCannotRead) {
  const auto error = [](const char* text) { return error_of([&] { import_nccl_xml(text, "x.xml"); }); };
  EXPECT_THAT(error("no xml"), testing::StartsWith("x.xml:1:7: found no XML: "));
  EXPECT_THAT(error("<system>\n<cpu></system>"), testing::StartsWith("x.xml:2:8: found no XML: "));
  EXPECT_EQ(error("<graphs version=\"1\"/>"),
            "x.xml: found <graphs>, the rings and trees of NCCL_GRAPH_FILE; expected <system>, a topology");
  EXPECT_EQ(error("<topology/>"), "x.xml: found <topology>, expected <system>, a topology of NCCL");
  EXPECT_EQ(error("<system><cpu/></system>"), "x.xml: found no GPU in <system>");
  EXPECT_EQ(error(R"(<system><cpu><pci busid="a" class="0x030200"/><pci busid="a" class="0x030200"/></cpu></system>)"),
            "x.xml: busid 'a' is listed twice");
}

/// A machine of two GPUs and `more` beside them.
std::string with(const std::string& more) {
  return R"(<system><cpu>
<pci busid="1" class="0x030200"/><pci busid="2" class="0x030200"/>)" +
         more + "</cpu></system>";
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(NcclXml, RefusesMoreThanAnyMachineHasWhereItStands) {
  const auto error = [](const std::string& text) { return error_of([&] { import_nccl_xml(text, "x.xml"); }); };
  const std::string deep = times(20'000, "<pci>") + times(20'000, "</pci>");
  EXPECT_EQ(error(with(deep)), "x.xml:2:217: found more than 32 elements inside each other, expected fewer");
  EXPECT_EQ(error_of([&] { identify_gpus(with(deep), "x.xml"); }), error(with(deep)));
  EXPECT_EQ(error("<system>" + times(65, "<cpu/>") + "</system>"),
            "x.xml:1:393: found more than 64 processors, expected fewer");
  EXPECT_EQ(error(with(times(1023, R"(<pci class="0x030200"/>)"))),
            "x.xml:2:23573: found more than 1024 GPUs, expected fewer");
  EXPECT_EQ(error(with(times(1025, R"(<pci class="0x020000"/>)"))),
            "x.xml:2:23619: found more than 1024 network cards, expected fewer");
  EXPECT_EQ(error(with("<nic>" + times(1025, "<net/>") + "</nic>")),
            "x.xml:2:6216: found more than 1024 network cards, expected fewer");
  EXPECT_EQ(error(with(times(1025, R"(<pci class="0x060400"/>)"))),
            "x.xml:2:23619: found more than 1024 PCIe switches, expected fewer");
  EXPECT_EQ(error(with(times(100'001, "<a/>"))), "x.xml:2:400051: found more than 100000 elements, expected fewer");
  EXPECT_EQ(error("<system><cpu numaid=\"" + std::string(300, 'x') + "\"/></system>"),
            "x.xml:1:9: found a value of 300 characters, expected at most 256");
}

TEST(NcclXml, RefusesNvlinksWithoutNumber) {
  const auto error = [](const std::string& count) {
    return error_of([&] {
      import_nccl_xml(
          "<system><cpu><pci busid=\"1\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\"><nvlink "
          "target=\"2\" count=\"" +
              count + "\"/></gpu></pci></cpu></system>",
          "x.xml");
    });
  };
  EXPECT_EQ(error("4294967295"), "x.xml:1:67: count: found '4294967295', expected a whole number of at most 1024");
  EXPECT_EQ(error("four"), "x.xml:1:67: count: found 'four', expected a whole number of at most 1024");
  EXPECT_EQ(error("12"), "no error");
}

/// What is written is read back as the same matrix, with the same bandwidths and hops.
void expect_round_trip(const Cluster& cluster) {
  const Cluster again = cluster_of(import_nccl_xml(to_nccl_xml(cluster), "again.xml"));
  ASSERT_EQ(again.gpus(), cluster.gpus());
  const std::vector<Pair> first = pairs(cluster, 99), second = pairs(again, 99);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(second[i].kind, first[i].kind) << i;
    EXPECT_EQ(second[i].hops, first[i].hops) << i;
    if (first[i].kind != "X") {
      EXPECT_NEAR(second[i].bandwidth.value / first[i].bandwidth.value, 1, 0.1) << i;
    }
  }
}

TEST(NcclXml, GivesBackWhatWasWritten) {
  NodeSpec mesh = dgx();
  mesh.builder = "mesh";
  mesh.nvlink_pairs = "0-1, 0-2 x2, 1-3, 4-5 x2, 6-7, 0-7";
  for (NodeSpec node : {dgx(), pcie_box(), mesh}) {
    node.pcie->bandwidth = Bandwidth{26e9};  // as Gen4 x16 carries
    expect_round_trip(build_cluster(node, big_switch(), node.gpus));
  }
  expect_round_trip(build_cluster(mesh, big_switch(), parse_allocation("0-2,7")));
  expect_round_trip(cluster_of(import_nccl_xml(kTwoSockets, "two.xml")));
}

}  // namespace
}  // namespace stepcast::topology
