#include "topology/import/smi_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/topology/machines.h"
#include "topology/matrix.h"

namespace stepcast::topology {
namespace {

SmiLinks links() { return {test_nvlink(), test_pcie(), test_socket()}; }

NodeSpec import(const std::string& text) { return import_smi_matrix(text, links(), "smi.txt"); }

/// The GPUs' part of the matrix that the imported machine has.
std::vector<std::string> kinds(const std::string& text) {
  const NodeSpec node = import(text);
  std::vector<std::string> all;
  for (const Pair& pair : pairs(build_cluster(node, big_switch(), node.gpus), node.gpus)) all.push_back(pair.kind);
  return all;
}

/// The GPUs' part of the text.
std::vector<std::string> written(const std::string& text, std::size_t gpus) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || !word.starts_with("GPU")) continue;
    words >> word;
    if (word.starts_with("GPU")) continue;  // the head
    for (std::size_t g = 0; g < gpus; ++g) {
      all.push_back(word);
      words >> word;
    }
  }
  return all;
}

/// Pairs joined by 12-link bridges; what is left is NODE inside a socket and SYS between them. The facts of eight
/// bridged A100 PCIe cards in NVIDIA/nccl-tests issue 178.
constexpr const char* kBridges = R"(
        GPU0    GPU1    GPU2    GPU3    CPU Affinity    NUMA Affinity
GPU0     X      NV12    NODE    SYS     0-31    0
GPU1    NV12     X      NODE    SYS     0-31    0
GPU2    NODE    NODE     X      SYS     0-31    0
GPU3    SYS     SYS     SYS      X      32-63   1
)";

/// Two islands of switches, as in issue 307 with eight RTX 4090.
constexpr const char* kIslands = R"(
	GPU0	GPU1	GPU2	GPU3	NIC0	CPU Affinity	NUMA Affinity	GPU NUMA ID
GPU0	 X 	PIX	SYS	SYS	PIX	0-35,72-107	0		N/A
GPU1	PIX	 X 	SYS	SYS	PIX	0-35,72-107	0		N/A
GPU2	SYS	SYS	 X 	PXB	SYS	36-71,108-143	1		N/A
GPU3	SYS	SYS	PXB	 X 	SYS	36-71,108-143	1		N/A
NIC0	PIX	PIX	SYS	SYS	 X 				

Legend:
  X    = Self
)";

/// A hybrid cube-mesh, whose sockets only SYS tells apart (konnase.github.io, NCCL notes: eight V100).
constexpr const char* kCubeMesh = R"(
	GPU0	GPU1	GPU2	GPU3	GPU4	GPU5	GPU6	GPU7	CPU Affinity
GPU0	 X 	NV1	NV1	NV2	SYS	SYS	NV2	SYS	0-95
GPU1	NV1	 X 	NV2	NV1	SYS	SYS	SYS	NV2	0-95
GPU2	NV1	NV2	 X 	NV2	NV1	SYS	SYS	SYS	0-95
GPU3	NV2	NV1	NV2	 X 	SYS	NV1	SYS	SYS	0-95
GPU4	SYS	SYS	NV1	SYS	 X 	NV2	NV1	NV2	0-95
GPU5	SYS	SYS	SYS	NV1	NV2	 X 	NV2	NV1	0-95
GPU6	NV2	SYS	SYS	SYS	NV1	NV2	 X 	NV1	0-95
GPU7	SYS	NV2	SYS	SYS	NV2	NV1	NV1	 X 	0-95
)";

TEST(SmiMatrix, BecomesAMachineOfTheSameMatrix) {
  EXPECT_EQ(kinds(kBridges), written(kBridges, 4));
  EXPECT_EQ(kinds(kIslands), written(kIslands, 4));
  EXPECT_EQ(kinds(kCubeMesh), written(kCubeMesh, 8));
}

TEST(SmiMatrix, MayLackTheRowsOfNics) {
  // As a HGX H100 was pasted: a NIC beside each GPU, on sockets of their own.
  NodeSpec node = import(
      "     GPU0 GPU1 NIC0 NIC1 CPU Affinity NUMA Affinity\n"
      "GPU0  X   NV18 PXB  SYS  0-55   0\n"
      "GPU1 NV18  X   SYS  PXB  56-111 1\n");
  EXPECT_EQ(node.nics, 2u);
  EXPECT_EQ(node.sockets, 2u);
  node.nic = test_nic();
  const Cluster two = build_cluster(node, big_switch(), 4);
  EXPECT_EQ(two.path(GpuId{1}, GpuId{3}).kind, PathKind::network);
  EXPECT_EQ(two.path(GpuId{1}, GpuId{3}).bandwidth, Bandwidth{23e9});  // never over the other socket
}

TEST(SmiMatrix, KeepsNicsBesideTheirGpus) {
  NodeSpec node = import(kIslands);
  EXPECT_EQ(node.nics, 1u);
  node.nic = test_nic();
  const Cluster two = build_cluster(node, big_switch(), 8);
  EXPECT_EQ(two.path(GpuId{0}, GpuId{4}).links.size(), 6u);  // GPU, switch, NIC, fabric, and back
}

TEST(SmiMatrix, SeesAnNvswitchWhereDirectLinksWouldBeTooMany) {
  std::string text = "\tGPU0\tGPU1\tGPU2\tGPU3\n";
  for (int a = 0; a < 4; ++a) {
    text += "GPU" + std::to_string(a);
    for (int b = 0; b < 4; ++b) text += a == b ? "\t X " : "\tNV18";
    text += '\n';
  }
  const NodeSpec node = import(text);
  EXPECT_EQ(node.devices.back().kind, "nvswitch");
  EXPECT_EQ(kinds(text), written(text, 4));
}

/// nvidia-smi underlines the heading of what it writes into a file too.
TEST(SmiMatrix, MayHaveAnUnderlinedHeading) {
  std::string text = kIslands;
  text.replace(text.find("GPU0"), 4, "\x1b[4mGPU0");
  text.replace(text.find("GPU NUMA ID"), 11, "GPU NUMA ID\x1b[0m");
  EXPECT_EQ(kinds(text), kinds(kIslands));
  EXPECT_EQ(import("\x1b[1;4mGPU0 GPU1\x1b[0m\nGPU0 X PIX\nGPU1 PIX X\x1b[").gpus, 2u);
}

TEST(SmiMatrix, IsTheSameBothWays) {
  EXPECT_EQ(error_of([&] { import(" GPU0 GPU1\nGPU0 X NV12\nGPU1 NV6 X\n"); }),
            "smi.txt: found 'NV12' from 'GPU0' to 'GPU1' and 'NV6' back, expected the same both ways");
}

TEST(SmiMatrix, SaysWhatItCannotRead) {
  const auto error = [](const char* text) { return error_of([&] { import(text); }); };
  EXPECT_EQ(error("nothing"), "smi.txt: found no row that starts with GPU0, expected what `nvidia-smi topo -m` prints");
  EXPECT_EQ(error(" GPU0 GPU1\nGPU0 X PIX\n"), "smi.txt: found 1 rows, expected 2");
  EXPECT_EQ(error(" GPU0 GPU1\nGPU1 X PIX\n"), "smi.txt:2: found the row 'GPU1', expected 'GPU0'");
  EXPECT_EQ(error(" GPU0 GPU1\nGPU0 X\n"), "smi.txt:2: found 1 paths, expected 2");
  EXPECT_EQ(error(" GPU0 GPU1\nGPU0 X PIG\n"),
            "smi.txt:2: found 'PIG', expected X, NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
}

TEST(SmiMatrix, TakesNoNicForAGpu) {
  const auto error = [](const char* text) { return error_of([&] { import(text); }); };
  EXPECT_EQ(error(" GPU0 NIC0\nGPU0 X NV4\nNIC0 NV4 X\n"),
            "smi.txt:2: found 'NV4' between 'GPU0' and 'NIC0', expected NVLinks between GPUs only");
  EXPECT_EQ(error(" GPU0 mlx5_0\nGPU0 X PIX\nmlx5_0 NV4 X\n"),
            "smi.txt:3: found 'NV4' between 'mlx5_0' and 'GPU0', expected NVLinks between GPUs only");
}

TEST(SmiMatrix, RefusesWhatNoMachineHas) {
  const auto error = [](const std::string& text) { return error_of([&] { import(text); }); };
  for (const char* links : {"NV0", "NV19", "NV4294967295", "NV4294967296"}) {
    EXPECT_EQ(error(std::string(" GPU0 GPU1\nGPU0 X ") + links + "\nGPU1 " + links + " X\n"),
              "smi.txt:2: found '" + std::string(links) + "', expected X, NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
  }
  EXPECT_EQ(error(" GPU0 GPU1\nGPU0 X X\nGPU1 X X\n"),
            "smi.txt:2: found 'X' between 'GPU0' and 'GPU1', expected X for the device itself and no other");
  EXPECT_EQ(error(" GPU0 GPU0\nGPU0 X NV4\nGPU0 NV4 X\n"), "smi.txt:1: found the column 'GPU0' a second time");
  std::string wide = "GPU0", far = "GPU0";
  for (int i = 0; i < 1024; ++i) wide += " NIC" + std::to_string(i);
  EXPECT_EQ(error(wide + "\nGPU0 X PIX\n"), "smi.txt:1: found more than 1024 GPUs and NICs, expected fewer");
  for (int i = 1; i < 70; ++i) far += " GPU" + std::to_string(i);
  for (int i = 0; i < 70; ++i) {
    far += "\nGPU" + std::to_string(i);
    for (int k = 0; k < 70; ++k) far += i == k ? " X" : " SYS";
  }
  EXPECT_EQ(error(far + "\n"),
            "smi.txt: found more than 64 processors (NUMA nodes, or devices that are SYS to each "
            "other), expected fewer");
}

}  // namespace
}  // namespace stepcast::topology
