#include "calibrate/measure/host/collective_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "calibrate/logs/nccl_tests.h"
#include "calibrate/measure/host/nccl_tests_text.h"

namespace stepcast::measure {
namespace {

const std::vector<int> kOneNuma(8, -1);

TEST(GpuGroups, EverySubsetSizeFromTwoToTheWholeNode) {
  std::set<std::size_t> sizes;
  for (const GpuGroup& group : gpu_groups(kOneNuma, 1, false)) sizes.insert(group.size());
  EXPECT_EQ(sizes, (std::set<std::size_t>{2, 3, 4, 5, 6, 7, 8}));
  sizes.clear();
  for (const GpuGroup& group : gpu_groups(kOneNuma, 2, false)) sizes.insert(group.size());
  EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(gpu_groups({-1}, 1, false).empty());
  EXPECT_EQ(gpu_groups({-1, -1}, 1, false), (std::vector<GpuGroup>{{0, 1}}));
  EXPECT_EQ(gpu_groups(kOneNuma, 1, true), (std::vector<GpuGroup>{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(GpuGroups, SpanTheHalvesOfTheNode) {
  const auto has = [](const std::vector<GpuGroup>& groups, const GpuGroup& group) {
    return std::count(groups.begin(), groups.end(), group) == 1;
  };
  const auto plain = gpu_groups(kOneNuma, 1, false);
  EXPECT_EQ(plain.front().size(), 8u);
  for (const GpuGroup& group : {GpuGroup{0, 4}, {0, 1, 4, 5}, {0, 2, 4, 6}, {4, 5, 6, 7}})
    EXPECT_TRUE(has(plain, group));
  const auto mixed = gpu_groups({0, 1, 0, 1}, 1, false);  // GPUs of the two sockets take turns
  for (const GpuGroup& group : {GpuGroup{0, 1}, {0, 2}, {1, 3}, {0, 1, 2, 3}}) EXPECT_TRUE(has(mixed, group));
  EXPECT_TRUE(has(gpu_groups({0, 0, 1}, 1, false), {0, 2}));
  EXPECT_EQ(group_suffix({0, 1, 2}), "");
  EXPECT_EQ(group_suffix({0, 4}), "-gpus-0-4");
}

TEST(CollectivePlan, NcclsOwnChoiceRunsAllSevenAndTreesAllReduceAlone) {
  std::set<std::string> own, tree;
  for (const CollectiveCase& one : collective_plan({}, {{0, 1, 2, 3}})) own.insert(one.collective);
  for (const CollectiveCase& one : collective_plan({"tree", "LL"}, {{0, 1, 2, 3}})) tree.insert(one.collective);
  EXPECT_EQ(own, (std::set<std::string>{"all_gather", "all_reduce", "all_to_all", "broadcast", "reduce",
                                        "reduce_scatter", "send_recv"}));
  EXPECT_EQ(tree, (std::set<std::string>{"all_reduce"}));
}

TEST(CollectivePlan, TheGridHasRingsAndTreesInThreeProtocols) {
  const auto settings = nccl_settings(true, 1, false);
  EXPECT_EQ(settings.size(), 1u + 6 + 1);
  EXPECT_EQ(settings.front(), NcclSetting{});
  EXPECT_NE(std::find(settings.begin(), settings.end(), NcclSetting{"nvls", "Simple"}), settings.end());
  EXPECT_EQ(nccl_settings(false, 1, false).size(), 7u);
  EXPECT_EQ(nccl_settings(true, 4, true).size(), 1u);
  EXPECT_EQ(nccl_algo({"nvls_tree", "Simple"}), "NVLSTree");
  EXPECT_EQ(nccl_proto({}), "");
}

TEST(CollectivePlan, CountsFollowNcclTests) {
  // nccl-tests, all_gather.cu: the size is that of the whole result; reduce_scatter.cu: of the whole input.
  const Counts gather = counts_of("all_gather", 1000, 4, 8);
  EXPECT_EQ(gather.send, 31);
  EXPECT_EQ(gather.receive, 248);
  EXPECT_EQ(gather.bytes, 992);
  const Counts scatter = counts_of("reduce_scatter", 1024, 4, 8);
  EXPECT_EQ(scatter.send, 256);
  EXPECT_EQ(scatter.receive, 32);
  EXPECT_EQ(counts_of("all_reduce", 1000, 4, 8).send, 250);
  EXPECT_EQ(counts_of("all_to_all", 8, 4, 8).send, 0);  // too small to give everyone an element
}

TEST(NcclTestsText, StepcastsOwnReaderReadsIt) {
  const std::string text = nccl_tests_text("all_to_all", "none", {0, 1, 4, 5}, 2, "NVIDIA H200",
                                           {{8, 2, 12.34e-6, -1, 0, 0}, {1 << 30, 1 << 28, 5.5e-3, 5.25e-3, 0, 0}});
  EXPECT_NE(text.find("Rank  6 Group  0 Pid      0 on node1 device  4"), std::string::npos) << text;
  const auto tables = calibrate::parse_nccl_tests(text, "log");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].operation, "all_to_all");
  EXPECT_EQ(tables[0].ranks, 8u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[0].size, Bytes{8});
  EXPECT_EQ(tables[0].rows[0].out_of_place, Time{12'340'000});
  EXPECT_FALSE(tables[0].rows[0].in_place.has_value());
  EXPECT_EQ(tables[0].rows[1].in_place, Time{5'250'000'000});
}

TEST(NcclTestsText, BusBandwidthIsTheAlgorithmsTimesItsFactor) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 8), 1);
  const std::string text = nccl_tests_text("all_reduce", "sum", {0, 1, 2, 3, 4, 5, 6, 7}, 1, "GPU",
                                           {{1'000'000'000, 250'000'000, 0.01, -1, 0, 0}});
  EXPECT_NE(text.find("100.00 175.00"), std::string::npos) << text;
}

}  // namespace
}  // namespace stepcast::measure
