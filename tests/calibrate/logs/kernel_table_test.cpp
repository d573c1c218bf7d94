#include "calibrate/logs/kernel_table.h"

#include <gtest/gtest.h>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

/// A kernel's run, in microseconds.
struct Run {
  const char* name;
  std::int64_t start, duration;
  std::uint32_t device = 0;
};

KernelTable table_of(std::initializer_list<Run> runs) {
  KernelLog log;
  for (const Run& run : runs) {
    log.spans.push_back({log.names.number_of(run.name), class_of(run.name), run.device, microseconds(run.start),
                         microseconds(run.duration)});
  }
  return kernel_table(log);
}

TEST(ClassOf, KnowsWhatLibrariesCallTheirKernels) {
  for (const char* gemm :
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
        "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nt", "nvjet_hsh_256x128_64x4_1x2_h_bz",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(...)", "sm80_xmma_fprop_implicit_gemm_bf16",
        "volta_sgemm_128x64_nn", "cudnn::winograd_nonfused"})
    EXPECT_EQ(class_of(gemm), KernelClass::gemm) << gemm;
  for (const char* attention :
       {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma", "paged_attention_v1_kernel"})
    EXPECT_EQ(class_of(attention), KernelClass::attention) << attention;
  for (const char* collective : {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                 "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "void vllm::cross_device_allreduce"})
    EXPECT_EQ(class_of(collective), KernelClass::collective) << collective;
  for (const char* elementwise :
       {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>",
        "triton_poi_fused_gelu_3", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", "softmax",
        ""})
    EXPECT_EQ(class_of(elementwise), KernelClass::elementwise) << elementwise;
  EXPECT_EQ(class_of("Memcpy HtoD (Pinned -> Device)"), KernelClass::copy);
}

TEST(KernelTable, CountsSumsAndMediansOfEachName) {
  const KernelTable table =
      table_of({{"gemm", 0, 10}, {"gelu", 10, 1}, {"gemm", 20, 30}, {"gemm", 60, 12}, {"gelu", 80, 4}});
  ASSERT_EQ(table.kernels.size(), 2u);
  EXPECT_EQ(table.kernels[0].name, "gemm");
  EXPECT_EQ(table.kernels[0].count, 3u);
  EXPECT_EQ(table.kernels[0].total, microseconds(52));
  EXPECT_EQ(table.kernels[0].median, microseconds(12));
  EXPECT_EQ(table.kernels[1].median, nanoseconds(2500));
}

TEST(KernelTable, OverlapCountsEachMomentOnce) {
  // Compute 0-10 and 5-20 on two streams, 30-40; a collective 15-35; a copy 50-60.
  const KernelTable table = table_of({{"gemm", 0, 10},
                                      {"gelu", 5, 15},
                                      {"gemm", 30, 10},
                                      {"ncclDevKernel_AllGather", 15, 20},
                                      {"Memcpy DtoH", 50, 10},
                                      {"gemm", 100, 7, 3}});
  ASSERT_EQ(table.devices.size(), 2u);
  const DeviceTime& d = table.devices[0];
  EXPECT_EQ(d.span, microseconds(60));
  EXPECT_EQ(d.compute, microseconds(30));
  EXPECT_EQ(d.collective, microseconds(20));
  EXPECT_EQ(d.hidden, microseconds(10));  // 15-20 and 30-35
  EXPECT_EQ(d.copy, microseconds(10));
  EXPECT_EQ(table.devices[1].device, 3u);
  EXPECT_EQ(table.devices[1].collective, Time{});
}

TEST(KernelTable, RefusesTimesThatNoSumHolds) {
  const std::int64_t days = 40LL * 86'400 * 1'000'000;
  EXPECT_THROW(table_of({{"a", 0, days}, {"a", 0, days}, {"b", 0, days}}), InputError);
}

}  // namespace
}  // namespace stepcast::calibrate
