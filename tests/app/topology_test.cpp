// `stepcast topology`, as people call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;

TEST(Topology, ShowsTheMatrixOfANode) {
  const Outcome outcome = run_program("topology dgx-1-v100-16gb");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("GPU0 = node 0 / gpu 0     X   NV1   NV1   NV2   NV2   SYS   SYS   SYS\n"));
  EXPECT_THAT(outcome.out, HasSubstr("bisection bandwidth  "));
}

TEST(Topology, SumsUpBeforeItListsEachPair) {
  const std::string told = run_program("topology dgx-1-v100-16gb").out;
  EXPECT_LT(told.find("pairs  bandwidth  latency"), told.find("GPU0 = node 0 / gpu 0")) << told;
}

TEST(Topology, TakesPartsAndClusters) {
  EXPECT_THAT(run_program("topology dgx-a100-80gb --allocation node0:0-1,node3:6").out, HasSubstr("3 GPUs on 2 nodes"));
  EXPECT_EQ(run_program("topology dgx-a100-80gb --nvlink nvlink4").err,
            "--nvlink: found 'nvlink4' beside 'dgx-a100-80gb', expected it with a matrix of nvidia-smi (.txt) alone\n");
  EXPECT_THAT(run_program("topology two-halves-a100").out, HasSubstr("GPU7 = node 2 / gpu 7"));
  EXPECT_THAT(run_program("topology perlmutter --nodes 2 --matrix").out, HasSubstr("bandwidth of one flow, GB/s"));
}

TEST(Topology, CutsALargeClusterInHalf) {
  // 8 NDR adapters of 49 GB/s in each of 1024 nodes, behind 52 GB/s of PCIe.
  EXPECT_THAT(run_program("topology rail-fat-tree-16384").out, HasSubstr("bisection bandwidth  401 TB/s\n"));
}

// Google states 1.6 TB/s for the pod (docs.cloud.google.com/tpu/docs/v5e); links here carry 0.9 of theirs.
TEST(Topology, CutsATpuPodAsItsMakerDoes) {
  EXPECT_THAT(run_program("topology tpu-v5e-256").out, HasSubstr("bisection bandwidth  1.44 TB/s\n"));
}

TEST(Topology, WritesForOtherPrograms) {
  const auto json = nlohmann::json::parse(run_program("topology hgx-a100-4gpu --json").out);
  EXPECT_EQ(json["gpus"], 4);
  EXPECT_EQ(json["pairs"].size(), 12u);
  EXPECT_EQ(json["pairs"][0]["kind"], "NV4");
  EXPECT_EQ(json["pairs"][0]["bandwidth_bytes_per_s"], 80e9);
  EXPECT_EQ(json["bisection_bytes_per_s"], 4 * 80e9);
  EXPECT_THAT(run_program("topology hgx-a100-4gpu --dot").out, testing::StartsWith("graph topology {\n"));
  EXPECT_THAT(run_program("topology hgx-a100-4gpu --links").out, HasSubstr("node 0 / gpu 0  node 0 / gpu 1  nvlink"));
}

TEST(Topology, ReadsWhatItWroteForNccl) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stepcast_topology_test.xml";
  std::ofstream(file) << run_program("topology azure-ndv4 --nccl-xml").out;
  const Outcome outcome = run_program("topology " + file.string());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("GPU7 = node 0 / gpu 7  NV12  NV12  NV12  NV12  NV12  NV12  NV12     X\n"));
  std::filesystem::remove(file);
}

TEST(Topology, TellsNcclWhichGpusAndProcessorsTheyAre) {
  const auto xml = [](const std::string& machine) { return run_program("topology " + machine + " --nccl-xml").out; };
  const std::pair<const char*, const char*> gpus[] = {
      {"dgx-a100-80gb", "80"}, {"dgx-1-v100-16gb", "70"}, {"dgx-h100", "90"}, {"pcie-8x-l40s", "89"},
      {"gh200-1gpu", "90"},    {"dgx-b200", "100"},       {"summit", "70"}};
  for (const auto& [machine, sm] : gpus)
    EXPECT_THAT(xml(machine), HasSubstr(std::string(" sm=\"") + sm + "\" ")) << machine;
  EXPECT_THAT(xml("summit"), HasSubstr("<cpu numaid=\"0\" arch=\"ppc64\">"));
  EXPECT_THAT(xml("gh200-1gpu"), HasSubstr("<cpu numaid=\"0\" arch=\"arm64\">"));
  EXPECT_THAT(xml("dgx-a100-80gb"), HasSubstr("arch=\"x86_64\" vendor=\"AuthenticAMD\""));
  // AMD's GPUs have no compute capability of NVIDIA's.
  for (const char* machine : {"frontier", "azure-nd-mi300x-v5"}) {
    EXPECT_THAT(xml(machine), testing::Not(HasSubstr(" sm="))) << machine;
    EXPECT_THAT(xml(machine), HasSubstr("<xgmi target=")) << machine;
  }
}

TEST(Topology, KeepsItsBisectionThroughNcclsXml) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stepcast_bisection_test.xml";
  const auto bisection = [](const std::string& machine) {
    const Outcome outcome = run_program("topology " + machine + " --json");
    EXPECT_EQ(outcome.status, 0) << machine << outcome.err;
    return nlohmann::json::parse(outcome.out)["bisection_bytes_per_s"].get<double>();
  };
  for (const char* machine : {"dgx-a100-80gb", "summit", "frontier", "dgx-h100", "pcie-8x-l40s"}) {
    std::ofstream(file) << run_program(std::string("topology ") + machine + " --nccl-xml").out;
    EXPECT_NEAR(bisection(file.string()) / bisection(machine), 1, 0.05) << machine;
  }
  std::filesystem::remove(file);
}

TEST(Topology, NamesThatAreNoTextAreErrorsOrReplaced) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "stepcast_\xff.xml";
  const auto shown = [&](const std::string& cpu) {
    std::ofstream(file) << "<system>\n<cpu numaid=\"" + cpu +
                               "\"><pci busid=\"1\" class=\"0x030200\"/>"
                               "<pci busid=\"2\" class=\"0x030200\"/></cpu></system>";
    return run_program("topology '" + file.string() + "' --json");
  };
  const Outcome bad = shown("\xff");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr(".xml:2:14: found bytes that are not UTF-8, expected UTF-8 text"));
  const Outcome good = shown("0");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(nlohmann::json::parse(good.out)["name"].get<std::string>(), HasSubstr("stepcast_\xef\xbf\xbd.xml"));
  std::filesystem::remove(file);
}

TEST(Topology, SaysWhatItCannotShow) {
  const auto error = [](const char* words) {
    const Outcome outcome = run_program(std::string("topology ") + words);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  EXPECT_THAT(error("dgx-1-v100-16g"), HasSubstr("did you mean 'dgx-1-v100-16gb'?"));
  EXPECT_THAT(error(""), HasSubstr("found 0 machines, expected one"));
  EXPECT_THAT(error("dgx-2 --dot --json"), HasSubstr("found --dot and --json, expected one of them"));
  EXPECT_THAT(error("dgx-2 --allocation 0-16"), HasSubstr("GPU 16 of a node of 16 (0 to 15)"));
  EXPECT_THAT(error("dgx-2 --gpus 3 --allocation 0-2"), HasSubstr("beside an allocation"));
}

TEST(Topology, OfTooManyNodesNamesTheOption) {
  const std::string too_many =
      "; rail-fat-tree-hdr: radix 40 is too small for 100000 nodes: three levels of such switches join at most 16000\n";
  EXPECT_EQ(run_program("topology dgx-a100-80gb --nodes 100000").err, "--nodes: found '100000'" + too_many);
  EXPECT_EQ(run_program("topology dgx-a100-80gb --gpus 800000").err, "--gpus: found '800000'" + too_many);
  EXPECT_EQ(run_program("collective --node dgx-a100-80gb --nodes 100000").err, "--nodes: found '100000'" + too_many);
}

TEST(Topology, NamesEveryMachineThatGoesOnWhereTheWordEnds) {
  EXPECT_EQ(run_program("topology dgx-a100").err,
            "stepcast topology: found 'dgx-a100', expected a file (.yaml of a cluster, .xml of NCCL, .txt of "
            "nvidia-smi), or a node or cluster of configs/; did you mean 'dgx-a100-40gb' or 'dgx-a100-80gb'? "
            "('stepcast list nodes' and 'stepcast list clusters' name all)\n");
}

TEST(Topology, AllocationsThatDoNotFitAreSaidOnce) {
  EXPECT_EQ(run_program("topology dgx-2 --allocation 0-16").err,
            "--allocation: cluster.allocation: found '0-16'; GPU 16 of a node of 16 (0 to 15)\n");
  EXPECT_EQ(run_program("topology dgx-2 --allocation '0;1'").err,
            "--allocation: cluster.allocation: found '0;1'; expected GPUs such as '0-2,5' or 'node0:0-3,node2:4-7'\n");
}

TEST(Topology, FlagsThatContradictEachOtherAreErrors) {
  EXPECT_EQ(run_program("topology dgx-a100-80gb --nodes 3 --gpus 16").err,
            "--gpus: cluster.gpus: found '16' beside nodes '3' of 8 GPUs, expected one of the two keys\n");
  EXPECT_EQ(run_program("topology dgx-a100-80gb --nodes 2 --gpus 16").status, 0);
}

}  // namespace
}  // namespace stepcast::app
