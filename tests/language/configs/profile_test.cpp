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

TEST_F(ProfileFile, RatesOfKernelsAreOfStacksThatRunThem) {
  const std::string file = write(
      "gpu: a100-sxm4-80gb\n"
      "kernels:\n"
      "  - {by: own, attention: {forward: 0.21, backward: 0.2}, elementwise: {gelu: 0.5}}\n"
      "  - {by: cudnn, attention: {forward: 0.71}}\n"
      "  - {by: flash_attention_2, attention: {forward: 0.61, backward: 0.52}}\n"
      "  - {by: pytorch, elementwise: {gelu: 0.8}, host_per_kernel: 11 us, host_per_collective: 31 us}\n");
  const auto with = [&](const std::string& software) {
    return small_with("profile: " + file + "\nsoftware: " + software);
  };
  const schedules::Gpu plain = small_with().cluster.gpu;
  const schedules::Scenario unsaid = with("{attention_by: unsaid}");
  EXPECT_EQ(unsaid.cluster.gpu.attention_forward, plain.attention_forward);
  EXPECT_TRUE(unsaid.cluster.gpu.elementwise.empty());
  EXPECT_EQ(unsaid.software.host_per_kernel, small_with("software: {attention_by: unsaid}").software.host_per_kernel);

  const schedules::Scenario own = with("{attention_by: own, elementwise_by: own}");
  EXPECT_EQ(own.cluster.gpu.attention_forward, 0.21);
  EXPECT_EQ(own.cluster.gpu.elementwise.at("gelu"), 0.5);

  const schedules::Scenario mixed = with("{attention_by: cudnn, elementwise_by: pytorch}");
  EXPECT_EQ(mixed.cluster.gpu.attention_forward, 0.71);
  EXPECT_EQ(mixed.cluster.gpu.attention_backward, plain.attention_backward);  // was not measured
  EXPECT_EQ(mixed.cluster.gpu.elementwise.at("gelu"), 0.8);
  EXPECT_EQ(mixed.software.host_per_kernel, microseconds(11));
  EXPECT_EQ(mixed.software.host_per_collective, microseconds(31));

  // flash_2 alone says whose it is, and its share of the GPU's rates is not taken a second time.
  const schedules::Scenario flash = with("{flash_2: true}");
  EXPECT_DOUBLE_EQ(flash.cluster.gpu.attention_forward * flash.cluster.gpu.attention_flash_2, 0.61);
  EXPECT_EQ(with("{flash_2: true, attention_by: other}").cluster.gpu.attention_forward, plain.attention_forward);
}

TEST_F(ProfileFile, AMakerIsNamedOnceAndIsOneThatCanBeMeasured) {
  const auto said = [&](const std::string& kernels) {
    const std::string file = write("gpu: a100-sxm4-80gb\nkernels: " + kernels + "\n");
    return complaint([&] { small_with("profile: " + file); });
  };
  EXPECT_THAT(said("[{by: cudnn}, {by: cudnn}]"), HasSubstr("kernels[1].by: found 'cudnn' a second time"));
  EXPECT_THAT(said("[{by: other}]"), HasSubstr("kernels[0].by: found 'other', of which nothing can be measured"));
  EXPECT_THAT(said("[{by: cuddn}]"), HasSubstr("did you mean 'cudnn'?"));
  EXPECT_THAT(said("[{attention: {forward: 0.5}}]"), HasSubstr("kernels[0].by: missing"));
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
