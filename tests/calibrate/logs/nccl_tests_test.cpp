#include "calibrate/logs/nccl_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr const char* kNew =
    "# Collective test starting: all_reduce_perf\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid 1 on    here device  0 [0x07] GPU\n"
    "#  Rank  1 Group  0 Pid 1 on    here device  1 [0x0f] GPU\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "           8             2     float     sum      -1    12.50    0.00    0.00      0    12.25    0.00    0.00     "
    " 0\n"
    "here:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2\n"
    "     1048576        262144     float     sum      -1    20.00   52.43   52.43      0    21.00   49.93   49.93    "
    "N/A\n"
    "# Out of bounds values : 0 OK\n";

constexpr const char* kOld =
    "$ ./build/alltoall_perf -b 64 -e 64\n"
    "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n"
    "          64            16   float    57.30    0.00    0.00  0e+00      N/A    0.00    0.00  0e+00\n";

TEST(NcclTests, ReadsTodaysTables) {
  const auto tables = parse_nccl_tests(kNew, "a.log");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].operation, "all_reduce");
  EXPECT_EQ(tables[0].ranks, 2u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  EXPECT_EQ(tables[0].rows[1].size, Bytes{1 << 20});
  EXPECT_EQ(tables[0].rows[1].out_of_place, microseconds(20));
  EXPECT_EQ(tables[0].rows[0].in_place, nanoseconds(12'250));
  EXPECT_EQ(tables[0].rows[1].line, 10u);
}

std::string both() {
  std::string text = kNew;
  text += kOld;
  return text;
}

TEST(NcclTests, ReadsOldTablesAndSeveral) {
  const auto tables = parse_nccl_tests(both(), "a.log");
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[1].operation, "all_to_all");
  EXPECT_EQ(tables[1].rows[0].out_of_place, nanoseconds(57'300));
  EXPECT_FALSE(tables[1].rows[0].in_place);
}

TEST(NcclTests, TakesMpirunsPrefixesOff) {
  std::istringstream log(kOld);
  std::ostringstream tagged;
  for (std::string line; std::getline(log, line);) tagged << "[1,0]<stdout>:" << line << '\n';
  EXPECT_EQ(parse_nccl_tests(tagged.str(), "a.log")[0].rows.size(), 1u);
}

TEST(NcclTests, TakesTheRanksOfSrunOff) {
  std::istringstream log(kNew);
  std::ostringstream tagged;
  for (std::string line; std::getline(log, line);) tagged << "12: " << line << '\n';
  const auto tables = parse_nccl_tests(tagged.str(), "a.log");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].ranks, 2u);
  EXPECT_EQ(tables[0].rows.size(), 2u);
}

TEST(NcclTests, ReadsHowManyGpusAProcessDrivesAndWhichNcclRan) {
  const auto read = [](const std::string& before) { return parse_nccl_tests(before + kNew, "a.log")[0]; };
  EXPECT_EQ(read("").gpus_per_process, 0u);
  EXPECT_EQ(read("").nccl_version, "");
  EXPECT_EQ(read("# nThread 2 nGpus 4 minBytes 8 maxBytes 8\n").gpus_per_process, 8u);
  EXPECT_EQ(read("$ ./all_reduce_perf -b 8 -g 12\n").gpus_per_process, 12u);
  EXPECT_EQ(read("$ ./all_reduce_perf -t2 --ngpus=3\n").gpus_per_process, 6u);
  EXPECT_EQ(read("$ ./all_reduce_perf -b 8 -e 16\n").gpus_per_process, 0u);
  EXPECT_EQ(read("NCCL version 2.9.9+cuda11.3\n").nccl_version, "2.9.9");
  EXPECT_EQ(read("# nccl-tests version 2.13.10 nccl-headers=22304 nccl-library=22703\n").nccl_version, "2.27.3");
  EXPECT_EQ(read("# nccl-library=2804\n").nccl_version, "2.8.4");
  std::string behind = kNew;  // NCCL says it when it starts, which may be behind the header
  behind.insert(behind.find("           8  "), "NCCL version 2.21.5+cuda12.4\n");
  EXPECT_EQ(parse_nccl_tests(behind, "a.log")[0].nccl_version, "2.21.5");
  EXPECT_FALSE(read("NCCL version 2.9.9+cuda11.3\n").is_rccl);
  EXPECT_EQ(read("RCCL version : 2.22.3-develop:7fe3c0d\n").nccl_version, "2.22.3");
  EXPECT_TRUE(read("RCCL version 2.18.3+hip6.0\n").is_rccl);
  EXPECT_EQ(read("").reduces, true);
  EXPECT_EQ(read("").has_root, false);
  EXPECT_DOUBLE_EQ(read("").bus_over_alg.value(), 1);
  EXPECT_FALSE(parse_nccl_tests(kOld, "a.log")[0].bus_over_alg);
  EXPECT_FALSE(parse_nccl_tests(kOld, "a.log")[0].reduces);
}

std::string error_of(const std::string& log) {
  try {
    parse_nccl_tests(log, "a.log");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NcclTests, SaysWhichLineIsWrong) {
  const std::string head = "# size count type time algbw busbw error\n";
  EXPECT_EQ(error_of(head + "8 2 float 1.0 0 0\n"), "a.log:2: found a row of 6 columns, expected the header's 7");
  EXPECT_EQ(error_of(head + "8 2 float 1.0 0 0 0\n16 4"), "a.log:3: found a row of 2 columns, expected the header's 7");
  EXPECT_EQ(error_of(head + "8 2 float 1.0 0 0 0\n16"), "a.log:3: found a row of 1 columns, expected the header's 7");
  EXPECT_EQ(error_of(head + "8 2 float fast 0 0 0\n"), "a.log:2: time: found 'fast', expected microseconds");
  EXPECT_EQ(error_of(head + "8 2 float nan 0 0 0\n"), "a.log:2: time: found 'nan', expected microseconds");
  EXPECT_EQ(error_of(""),
            "a.log: found no table of nccl-tests, expected a header '# size count type ... time algbw busbw' and rows "
            "below it");
}

/// Whatever is cut, doubled or changed, the answer is tables or an InputError.
TEST(NcclTests, SurvivesBrokenLogs) {
  std::mt19937 random(20240607);
  const std::string good = both();
  for (int round = 0; round < 5000; ++round) {
    std::vector<char> log(good.begin(), good.end());
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(random() % (log.size() - 20));
      switch (random() % 3) {
        case 0:
          log[static_cast<std::size_t>(at)] = static_cast<char>(random() % 256);
          break;
        case 1:
          log.erase(log.begin() + at, log.begin() + at + 10);
          break;
        default:
          std::rotate(log.begin() + at, log.begin() + at + 7, log.begin() + at + 19);
      }
    }
    try {
      for (const NcclTestsTable& table : parse_nccl_tests({log.data(), log.size()}, "fuzz"))
        EXPECT_FALSE(table.rows.empty());
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace stepcast::calibrate
