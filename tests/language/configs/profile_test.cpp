#include "language/configs/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using schedules::Precision;
using testing::HasSubstr;

constexpr const char* kProfile = R"(
name: mine
measured: {run: r1, gpu_name: "NVIDIA A100-SXM4-80GB", driver: "550.54.15"}
gpu:
  base: a100-sxm4-80gb
  memory: {efficiency: 0.91, ramp: 1.5 us}
  elementwise: {layer_norm: 0.93}
  gemm_bf16: {mainloop: 0.71, sustained: 0.72, tile_128: 0.73, tile_64: 0.74, fill: 75, exposed_write: 0.76}
software:
  kernel_gap: 1.25 us
  overlap_slowdown: 0.2
  transport: {launch: 9 us, ll128: {share: 0.5}}
copies: {h2d_pinned: {latency: 8 us, bandwidth: 24 GB/s}, both_pinned: {bandwidth: 20 GB/s}}
interference: {copy_h2d: 0.03}
source: here
)";

/// The profile with `more` lines, in a file of this test.
class ProfileFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_.string();
  }
  ~ProfileFile() override { std::filesystem::remove(path_); }

 private:
  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("stepcast-profile-" + std::to_string(getpid()) + ".yaml");
};

TEST_F(ProfileFile, ReplacesConstantsOfGpuAndSoftware) {
  const schedules::Scenario plain = small_with();
  const schedules::Scenario s = small_with("profile: " + write(kProfile));
  EXPECT_EQ(s.cluster.gpu.name, "a100-sxm4-80gb");
  EXPECT_EQ(s.cluster.gpu.memory_efficiency, 0.91);
  EXPECT_EQ(s.cluster.gpu.memory_ramp, nanoseconds(1500));
  EXPECT_EQ(s.cluster.gpu.elementwise.at("layer_norm"), 0.93);
  EXPECT_EQ(gemm_model(s.cluster.gpu, Precision::bf16).sustained, 0.72);
  EXPECT_EQ(s.software.kernel_gap, nanoseconds(1250));
  EXPECT_EQ(s.software.overlap_slowdown, 0.2);
  EXPECT_EQ(s.software.transport.launch, microseconds(9));
  EXPECT_EQ(s.software.transport.ll128.share, 0.5);
  EXPECT_EQ(s.host_link.to_gpu.latency, microseconds(8));
  EXPECT_EQ(s.host_link.to_gpu.bandwidth, Bandwidth{24e9});
  EXPECT_EQ(s.host_link.both.bandwidth, Bandwidth{20e9});
  EXPECT_EQ(s.host_link.slowdown, 0.03);
  // What it does not say stays.
  EXPECT_FALSE(s.host_link.to_host.bandwidth.has_value());
  EXPECT_EQ(gemm_model(s.cluster.gpu, Precision::fp16).sustained, plain.cluster.gpu.gemm.sustained);
  EXPECT_EQ(s.cluster.gpu.peak, plain.cluster.gpu.peak);
  EXPECT_EQ(s.cluster.gpu.attention_forward, plain.cluster.gpu.attention_forward);
  EXPECT_EQ(s.software.name, plain.software.name);
  EXPECT_EQ(s.software.elementwise_efficiency, plain.software.elementwise_efficiency);
  EXPECT_EQ(s.software.transport.ll128.launch, plain.software.transport.ll128.launch);
}

TEST_F(ProfileFile, OfAnotherGpuIsRefused) {
  const std::string file = write("gpu: h100-sxm5-80gb\n");
  EXPECT_EQ(complaint([&] { small_with("profile: " + file); }),
            "keys.yaml:1:10: profile: found a profile of the GPU h100-sxm5-80gb, expected one of the cluster's, "
            "a100-sxm4-80gb");
}

TEST_F(ProfileFile, KnowsItsKeysAndNoOthers) {
  const auto said = [&](const std::string& text) {
    const std::string file = write(text);
    return complaint([&] { small_with("profile: " + file); });
  };
  EXPECT_THAT(said("name: x\n"), HasSubstr("gpu: missing"));
  EXPECT_THAT(said("gpu: a100-sxm4-80gb\nnetwork: {launch: 1 us}\n"), HasSubstr("found the unknown key 'network'"));
  EXPECT_THAT(said("gpu: {base: a100-sxm4-80gb, memory: {ram: 1 us}}\n"), HasSubstr("did you mean 'ramp'?"));
  EXPECT_THAT(said("gpu: a100-sxm4-80gb\ncopies: {h2d_pinned: {latency: 5 GB/s}}\n"),
              HasSubstr("copies.h2d_pinned.latency: found"));
  EXPECT_THAT(complaint([] { small_with("profile: none.yaml"); }), HasSubstr("there is no none.yaml"));
}

}  // namespace
}  // namespace stepcast::language
