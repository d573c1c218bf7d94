#include "calibrate/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/input_error.h"
#include "tests/calibrate/bundle/small_bundle.h"

namespace stepcast::calibrate {
namespace {

using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::vector<BundleFile>& files) {
  try {
    parse_bundle(files, "b");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// What is said of the small bundle where `from` in `file` reads `to`.
std::string with(const std::string& file, const std::string& from, const std::string& to) {
  std::vector<BundleFile> files = small_bundle();
  for (BundleFile& each : files)
    if (each.name == file) each.text = replaced(each.text, from, to);
  return complaint(files);
}

TEST(Bundle, ReadsEveryKindOfRow) {
  const Bundle bundle = parse_bundle(small_bundle(), "b");
  EXPECT_EQ(bundle.run, "r1");
  EXPECT_EQ(bundle.machine.gpu_name, "NVIDIA H200");
  EXPECT_EQ(bundle.machine.compute_capability, 90u);
  EXPECT_EQ(bundle.machine.host_cpu, "Intel(R) Xeon(R) Platinum 8480C, 2 sockets");
  EXPECT_EQ(bundle.machine.command, "stepcast-measure --out b, as written");
  EXPECT_TRUE(bundle.machine.graph_timer);
  ASSERT_EQ(bundle.kernels.size(), 3u);
  EXPECT_EQ(bundle.kernels[0].time.median, nanoseconds(1200));
  EXPECT_EQ(bundle.kernels[1].place, "b/kernels.csv:6");
  EXPECT_EQ(bundle.kernels[1].k, 4096);
  EXPECT_TRUE(bundle.kernels[1].cold);
  ASSERT_EQ(bundle.copies.size(), 2u);
  EXPECT_EQ(bundle.copies[1].to, "1");
  ASSERT_EQ(bundle.interference.size(), 1u);
  EXPECT_EQ(bundle.interference[0].together, microseconds(220));
  ASSERT_EQ(bundle.collectives.size(), 1u);
  EXPECT_EQ(bundle.collectives[0].gpus, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(bundle.step_tables, std::vector<std::string>{"steps/gpt.csv"});
}

TEST(Bundle, IsRefusedWholeWhereOneFileIsCutOffAnywhere) {
  for (const char* file : {"machine.csv", "kernels.csv", "copies.csv", "interference.csv", "collectives.csv"}) {
    std::vector<BundleFile> files = small_bundle();
    auto& text = std::ranges::find(files, file, &BundleFile::name)->text;
    for (const std::string whole = text; text.size() > 1;) {
      text.pop_back();
      if (text.size() + 1 == whole.size()) continue;  // only the last line's end is missing: nothing is lost
      EXPECT_THAT(complaint(files), HasSubstr(std::string("b/") + file + ":")) << text;
    }
  }
}

TEST(Bundle, IsRefusedWholeWhereItsFilesAreOfDifferentRuns) {
  EXPECT_EQ(with("copies.csv", "# run r1", "# run r2"),
            "b/copies.csv:2: found run r2, expected r1 as in machine.csv: files of two runs are mixed");
}

TEST(Bundle, IsRefusedWholeWhereACheckFailed) {
  EXPECT_EQ(with("kernels.csv", "passed", "failed"),
            "b/kernels.csv:6: check: found 'failed', expected a bundle without failed checks");
  EXPECT_EQ(with("collectives.csv", "2.200000e-05,0\n", "2.200000e-05,3\n"),
            "b/collectives.csv:5: wrong: found '3', expected 0: a bundle without wrong results");
}

TEST(Bundle, IsRefusedWholeWhereARowStandsTwice) {
  const std::string row = "h2d,pinned,host,0,1,1048576,100,3.000000e-05,2.900000e-05,3.100000e-05\n";
  std::vector<BundleFile> files = small_bundle();
  files[2].text = replaced(replaced(files[2].text, row, row + row), "# end 2", "# end 3");
  EXPECT_EQ(complaint(files), "b/copies.csv:6: found what b/copies.csv:5 measured a second time");
  EXPECT_EQ(with("machine.csv", "ecc,on", "sms,132"), "b/machine.csv:19: found the key 'sms' a second time");
}

TEST(Bundle, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(with("kernels.csv", "1.200000e-06", "0"),
            "b/kernels.csv:5: median_s: found '0', expected seconds above 0, up to a day");
  EXPECT_EQ(with("kernels.csv", "1.100000e-06", "1.3e-06"),
            "b/kernels.csv:5: p10_s: found '1.3e-06', expected no more than median_s");
  EXPECT_EQ(with("kernels.csv", "gemm,", "gem,"),
            "b/kernels.csv:6: suite: found 'gem', expected one of gemm, batched_gemm, attention, elementwise, stream, "
            "launch");
  EXPECT_EQ(with("kernels.csv", "4096,4096,4096", "4096,,4096"),
            "b/kernels.csv:6: n: found none, expected a whole number above 0");
  EXPECT_EQ(with("copies.csv", "device,0,1", "device,0,2"),
            "b/copies.csv:6: to: found '2', expected host or one of the machine's 2 GPUs, from 0");
  EXPECT_EQ(with("collectives.csv", "2,1,0 1", "2,2,0 1"),
            "b/collectives.csv:5: gpus: found '0 1', expected ranks / nodes = 2 / 2 of them");
  EXPECT_EQ(with("machine.csv", "sms,132\n", "sm,132\n"), "b/machine.csv:9: found the unknown key 'sm'");
  EXPECT_THAT(with("interference.csv", "slowed,beside", "beside,slowed"),
              HasSubstr("b/interference.csv:4: found another header"));
  EXPECT_EQ(with("interference.csv", "gemm,",
                 "ge\xff"
                 "m,"),
            "b/interference.csv:5: found a byte that is no printable ASCII character");
  EXPECT_EQ(with("copies.csv", "# end 2", "# end 2\n#"), "b/copies.csv:8: found more after the line '# end 2'");
}

TEST(Bundle, RefusesTablesThatItDoesNotKnow) {
  std::vector<BundleFile> files = small_bundle();
  files.push_back({"kernel.csv", ""});
  EXPECT_THAT(complaint(files), HasSubstr("b/kernel.csv: found an unknown table"));
  EXPECT_EQ(complaint({}), "b: found no machine.csv, expected a bundle");
}

TEST(Bundle, SaysWhoseAKernelIsAndWhatThroughPyTorchWasMeasured) {
  const Bundle bundle = parse_bundle(small_bundle(), "b");
  ASSERT_EQ(bundle.kernels.size(), 3u);
  EXPECT_EQ(bundle.kernels[1].by, "cublaslt");
  EXPECT_EQ(bundle.kernels[2].by, "cudnn");
  ASSERT_EQ(bundle.host.size(), 1u);
  EXPECT_EQ(bundle.host[0].count, 40);
  EXPECT_EQ(bundle.host[0].time.median, microseconds(11));
  ASSERT_EQ(bundle.sustained.size(), 1u);
  EXPECT_EQ(bundle.sustained[0].burst, milliseconds(10));
  EXPECT_EQ(bundle.sustained[0].capped, 0.97);
  EXPECT_EQ(bundle.refused, 1u);
}

TEST(Bundle, TheSameKernelByAnotherMakerIsAnotherRow) {
  const std::string row =
      "attention,forward,cudnn,bf16,causal,64,2048,2048,128,134217728,6.8735e+10,cold,50,"
      "1.400000e-04,1.390000e-04,1.420000e-04,1755,690,61,0,-,";
  std::vector<BundleFile> files = small_bundle();
  const auto at = std::ranges::find(files, "pytorch_kernels.csv", &BundleFile::name);
  std::string flash = row;
  flash.replace(flash.find("cudnn"), 5, "flash_attention_2");
  at->text = measured_text(kKernelHeader, {row, flash});
  EXPECT_EQ(parse_bundle(files, "b").kernels.size(), 4u);
  at->text = measured_text(kKernelHeader, {row, row});
  EXPECT_EQ(complaint(files), "b/pytorch_kernels.csv:6: found what b/pytorch_kernels.csv:5 measured a second time");
}

TEST(Bundle, OverlapIsOfEitherSideAndOfAGpuThatIsThere) {
  EXPECT_EQ(with("interference.csv", "gemm,all_reduce", "all_reduce,copy_h2d"),
            "b/interference.csv:5: beside: found 'copy_h2d', expected one of gemm, stream");
  EXPECT_EQ(with("interference.csv", "all_reduce,0", "all_reduce,2"),
            "b/interference.csv:5: gpu: found '2', expected a whole number from 0 to 1");
  EXPECT_EQ(with("copies.csv", "host,0,1,", "host,0,3,"),
            "b/copies.csv:5: at_once: found '3', expected a whole number from 1 to 2");
  EXPECT_EQ(with("sustained.csv", ",0.97,", ",1.97,"),
            "b/sustained.csv:5: capped: found '1.97', expected a share from 0 to 1");
}

}  // namespace
}  // namespace stepcast::calibrate
