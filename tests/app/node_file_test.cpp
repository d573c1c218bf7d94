// Machines that another program described: NCCL's topology XML, nvidia-smi's matrix.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kJob =
    "model: {family: gpt, layers: 4, hidden: 1024, heads: 16, vocab: 51200}\n"
    "training: {global_batch: 64, micro_batch: 1, sequence: 1024, precision: fp16}\n";

/// As clouds hand it to NCCL, which then finds GPUs and NVLinks itself.
constexpr const char* kSkeleton = R"(<system version="1"><cpu numaid="0" vendor="AuthenticAMD">
  <pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
  <pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
  <pci busid="0101:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
</cpu></system>)";

constexpr const char* kA100 = R"(<system version="1"><cpu numaid="0" vendor="AuthenticAMD">
  <pci busid="1" class="0x030200" device="0x20b0"/><pci busid="2" class="0x030200" device="0x20b0"/>
</cpu></system>)";

constexpr const char* kHopper = R"(<system version="1"><cpu numaid="0" vendor="AuthenticAMD">
  <pci busid="1" class="0x030200"><gpu dev="0" sm="90"/></pci><pci busid="2" class="0x030200"><gpu dev="1" sm="90"/></pci>
</cpu></system>)";

constexpr const char* kMatrix = "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n";

/// A folder of this test's own, gone afterwards.
class NodeFile : public testing::Test {
 protected:
  NodeFile()
      : folder_(fs::temp_directory_path() / ("stepcast-node-" + std::to_string(getpid()) +
                                             testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~NodeFile() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  /// The only step time of a scenario of this cluster.
  double step_time(const std::string& cluster) const {
    const Outcome outcome =
        run_program("run " + write("job.yaml", "cluster: " + cluster + "\n" + kJob) + " --format json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? nlohmann::json::parse(outcome.out)["results"][0]["step_time_s"].get<double>() : 0;
  }
  std::string error(const std::string& cluster) const {
    const Outcome outcome = run_program("run " + write("job.yaml", "cluster: " + cluster + "\n" + kJob));
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err;
  }

  fs::path folder_;
};

TEST_F(NodeFile, EveryMachineWrittenForNcclRunsAScenarioAndACollective) {
  const std::pair<const char*, const char*> machines[] = {
      {"dgx-1-p100", "p100-sxm2"},    {"dgx-1-v100-16gb", "v100-sxm2-16gb"},
      {"dgx-2", "v100-sxm3-32gb"},    {"dgx-a100-80gb", "a100-sxm4-80gb"},
      {"aws-p4d", "a100-sxm4-40gb"},  {"pcie-8x-a100", "a100-pcie-40gb"},
      {"dgx-h100", "h100-sxm5-80gb"}, {"dgx-b200", "b200"},
      {"frontier", "mi250x-gcd"},     {"perlmutter", "a100-sxm4-40gb"}};
  std::size_t number = 0;
  for (const auto& [machine, gpu] : machines) {
    if (++number % 4 != 0 && test::kSanitized) continue;
    SCOPED_TRACE(machine);
    const std::string file = std::string(machine) + ".xml";
    write(file, run_program(std::string("topology ") + machine + " --nccl-xml").out);
    EXPECT_GT(step_time("{node: {base: " + file + ", gpu: " + gpu + "}}"), 0);
    const Outcome outcome = run_program("collective --node " + (folder_ / file).string() +
                                        " --set cluster.node.gpu=" + gpu + " --sizes 8B,1MiB --algorithm all");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("ring"));
  }
}

TEST_F(NodeFile, TakesAboutAsLongAsTheMachineThatWasWritten) {
  write("dgx.xml", run_program("topology dgx-a100-80gb --nccl-xml").out);
  const double own = step_time("{node: dgx-a100-80gb, nodes: 2, fabric: one-switch}");
  const double again = step_time("{node: {base: dgx.xml, gpu: a100-sxm4-80gb, nic: infiniband-hdr}, nodes: 2}");
  EXPECT_NEAR(again / own, 1, 0.02);
}

TEST_F(NodeFile, IsFoundBesideTheFileThatNamesIt) {
  write("a.xml", kA100);
  write("box.yaml", "builder: nccl-xml\nfile: a.xml\n");
  const double direct = step_time("{node: a.xml}");
  EXPECT_GT(direct, 0);
  EXPECT_EQ(step_time("{node: ./box.yaml}"), direct);
  EXPECT_EQ(step_time("{node: {builder: nccl-xml, file: a.xml, gpu: a100-sxm4-40gb}}"), direct);
}

TEST_F(NodeFile, MayBeASkeletonWhoseNicsAndGpusAreNamed) {
  write("s.xml", kSkeleton);
  EXPECT_GT(step_time("{node: {base: s.xml, gpu: a100-sxm4-80gb, nic: infiniband-hdr}, nodes: 2}"), 0);
  EXPECT_THAT(error("{node: {base: s.xml, gpu: a100-sxm4-80gb}, nodes: 2}"), HasSubstr("'nic' names no link type"));
}

TEST_F(NodeFile, OfASkeletonMayBeGivenItsNvlinks) {
  write("s.xml", kSkeleton);
  write("node.yaml", "base: s.xml\ngpu: a100-sxm4-80gb\nnvlinks_per_gpu: 12\nnvlink: nvlink3\n");
  const auto json = nlohmann::json::parse(run_program("collective --node " + (folder_ / "node.yaml").string() +
                                                      " --sizes 1GiB --op send_recv --format json")
                                              .out);
  EXPECT_GT(json["rows"][0]["busbw_GBps"], 100);
  write("dgx.xml", run_program("topology dgx-a100-80gb --nccl-xml").out);
  EXPECT_THAT(error("{node: {base: dgx.xml, gpu: a100-sxm4-80gb, nvlinks_per_gpu: 12, nvlink: nvlink3}}"),
              HasSubstr("cluster.node.nvlink: found beside a file that says it"));
  EXPECT_THAT(error("{node: {base: s.xml, gpu: a100-sxm4-80gb, nvlink: nvlink3}}"),
              HasSubstr("cluster.node.nvlinks_per_gpu: missing"));
}

TEST_F(NodeFile, MayBeAMatrixWhoseLinksAreNamed) {
  write("m.txt", kMatrix);
  const std::string rest = "gpu: a100-sxm4-40gb, nvlink: nvlink3, pcie: pcie-gen4-x16, socket_link: infinity-fabric}}";
  EXPECT_GT(step_time("{node: {base: m.txt, " + rest), 0);
  EXPECT_GT(step_time("{node: {builder: smi-matrix, file: m.txt, " + rest), 0);
  EXPECT_THAT(error("{node: {base: m.txt, gpu: a100-sxm4-40gb, pcie: pcie-gen4-x16}}"),
              testing::AllOf(HasSubstr("cluster.node.nvlink: missing, expected a file of configs/links/"),
                             HasSubstr("states no speeds")));
}

TEST_F(NodeFile, SaysWhatIsWrong) {
  write("s.xml", kSkeleton);
  write("a.xml", kA100);
  write("h.xml", kHopper);
  write("graph.xml", "<graphs version=\"1\"/>");
  EXPECT_THAT(error("{node: s.xml}"), testing::AllOf(HasSubstr("job.yaml:1:"), HasSubstr("cluster.node.gpu: missing"),
                                                     HasSubstr("s.xml does not say which")));
  EXPECT_THAT(error("{node: h.xml}"),
              HasSubstr("has GPUs of compute capability 9.0, which may be gh200-96gb, gh200-96gb-680w, "
                        "h100-nvl-94gb, "));
  EXPECT_THAT(error("{node: nowhere.xml}"), HasSubstr("cluster.node.file: expected a file; there is no "));
  EXPECT_THAT(error("{node: graph.xml}"), HasSubstr("found <graphs>"));
  EXPECT_THAT(error("{node: {base: a.xml, gpus: 4}}"),
              HasSubstr("cluster.node.gpus: found beside a file that says it, expected the key left out"));
  EXPECT_THAT(error("{node: {builder: nccl-xml}}"), HasSubstr("cluster.node.file: missing"));
  EXPECT_THAT(
      error("{node: {base: dgx-h100, file: a.xml}}"),
      HasSubstr("cluster.node.file: found beside the builder 'nvswitch', expected one of nccl-xml, smi-matrix"));
}

}  // namespace
}  // namespace stepcast::app
