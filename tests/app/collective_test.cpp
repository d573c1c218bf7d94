
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/report/collective_report.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder of this test's own, gone afterwards.
class Collective : public testing::Test {
 protected:
  Collective() : folder_(fs::temp_directory_path() / "collective") { fs::create_directories(folder_); }
  ~Collective() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string output(std::vector<std::string> words) const {
    words.insert(words.end(), {"--output", file("out")});
    EXPECT_EQ(find_command("collective").run(words), kDone);
    return content(file("out"));
  }
  std::string error(std::vector<std::string> words) const {
    try {
      words.insert(words.end(), {"--output", file("out")});
      find_command("collective").run(words);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }

 private:
  fs::path folder_;
};

TEST_F(Collective, OfNothingTakesNoTime) {
  for (const char* op : {"all_reduce", "all_gather", "all_to_all", "broadcast"}) {
    const std::string rows =
        output({"--node", "dgx-h100", "--nodes", "2", "--op", op, "--sizes", "0B,1KiB", "--format", "json"});
    const nlohmann::json all = nlohmann::json::parse(rows)["rows"];
    EXPECT_EQ(all[0]["time_s"].get<double>(), 0) << op;
    EXPECT_GT(all[1]["time_s"].get<double>(), 1e-6) << op;
  }
  EXPECT_THAT(output({"--node", "dgx-h100", "--sizes", "0B", "--explain"}), HasSubstr("all_reduce over 8 GPUs"));
}

TEST_F(Collective, TakesWhatIsForcedOnTheLibrary) {
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--node", "dgx-h100", "--sizes", "1GiB", "--format", "csv"};
    words.insert(words.end(), more.begin(), more.end());
    return output(words);
  };
  EXPECT_THAT(run({}), HasSubstr(",nvls,Simple,"));
  EXPECT_THAT(run({"--protocol", "LL"}), HasSubstr(",ring,LL,"));
  EXPECT_THAT(run({"--protocol", "^simple"}), HasSubstr(",LL128,"));
  EXPECT_THAT(run({"--set", "transport.algorithm=Tree"}), HasSubstr(",double-binary-tree,"));
  EXPECT_THAT(run({"--set", "transport.algorithm=^NVLS", "--protocol", "Simple"}), HasSubstr(",ring,Simple,"));
  EXPECT_THAT(run({"--algorithm", "nccl", "--protocol", "LL"}), HasSubstr(",LL,"));
  EXPECT_THAT(run({"--algorithm", "nccl", "--set", "transport.algorithm=Ring"}), HasSubstr(",ring,"));
  const auto on_gh200 = [&](const char* forced) {
    std::vector<std::string> words{"--node", "gh200-1gpu",     "--nodes",     "16",      "--sizes",  "4MiB",
                                   "--op",   "reduce_scatter", "--algorithm", "library", "--format", "csv"};
    if (*forced) words.insert(words.end(), {"--set", std::string("transport.algorithm=") + forced});
    return output(words);
  };
  EXPECT_THAT(on_gh200(""), HasSubstr(",pat,Simple,"));
  EXPECT_THAT(on_gh200("Ring"), HasSubstr(",ring,"));
  // None of the forced can do it: the library's own choice.
  EXPECT_THAT(on_gh200("Tree"), HasSubstr(",pat,"));
  EXPECT_THAT(run({"--set", "transport.algorithm=Tree", "--op", "all_gather"}), HasSubstr(",ring,"));
  EXPECT_EQ(error({"--node", "dgx-h100", "--protocol", "LL,L128"}),
            "--protocol: software.transport.protocol: found 'L128', expected names with commas between them, or ^ and "
            "names, of: Simple, LL128, LL");
  EXPECT_EQ(error({"--node", "dgx-h100", "--protocol", "^LL,LL128,Simple"}),
            "--protocol: software.transport.protocol: found '^LL,LL128,Simple', which leaves nothing");
  EXPECT_THAT(error({"--node", "dgx-h100", "--set", "transport.algorithm=rign"}),
              HasSubstr("found 'rign', expected names with commas between them"));
}

// Half of the blocks move half as fast.
TEST_F(Collective, MovesLessWithFewerChannels) {
  const auto time = [&](const std::string& channels) {
    const std::string text = output({"--node", "dgx-a100-80gb", "--sizes", "8GiB", "--algorithm", "ring/Simple",
                                     "--max-channels", channels, "--format", "json"});
    return nlohmann::json::parse(text)["rows"][0]["time_s"].get<double>();
  };
  EXPECT_NEAR(time("6") / time("12"), 2, 0.02);
}

// Every recorded curve with its error; whoever moves a prediction shows here what moved. The sanitized build is some
// thirty times slower and would say the same.
TEST(RecordedCurves, ErrorsInTheDocsAreUpToDate) {
#ifndef NDEBUG
  GTEST_SKIP() << "runs in the release build";
#endif
  const Outcome told = run_program("fit calibrate/data/nccl/curves.csv --check");
  EXPECT_EQ(told.status, 0) << told.err;
  expect_golden(STEPCAST_SOURCE_DIR "/docs/nccl-curves.txt", told.out);
}

TEST_F(Collective, PrintsTheColumnsOfNcclTests) {
  const std::string text = output({"--node", "dgx-a100-80gb", "--op", "all_gather", "--sizes", "8B:1MiB:x16"});
  EXPECT_THAT(text, HasSubstr("all_gather over 8 GPUs, stack nccl-a100\n"));  // the one fitted on such machines
  for (const char* column : {"size (B)", "count", "redop", "root", "time (us)", "algbw (GB/s)", "busbw (GB/s)"}) {
    EXPECT_THAT(text, HasSubstr(column));
  }
  EXPECT_THAT(text, HasSubstr("\n   32768   1024  float   none    -1"));  // 32768 / 4 / 8
}

/// Of broadcast and reduce too, whose repetitions overlap: what is printed is what the choice was made by.
TEST_F(Collective, PrintsTimesThatGrowWithTheSizeAndOfWhichAutoTakesTheLeast) {
  const auto times = [&](const std::string& node, const std::string& nodes, const std::string& op,
                         const std::string& protocol) {
    std::vector<double> found;
    std::vector<std::string> words{"--node", node,      "--nodes",  nodes,      "--op",
                                   op,       "--sizes", "8B:64MiB", "--format", "json"};
    if (!protocol.empty()) words.insert(words.end(), {"--protocol", protocol});
    const auto json = nlohmann::json::parse(output(words));
    for (const auto& row : json["rows"]) found.push_back(row["time_s"]);
    return found;
  };
  for (const auto& [node, nodes] : {std::pair{"dgx-a100-80gb", "16"}, {"frontier", "4"}, {"dgx-1-v100-16gb", "1"}}) {
    if (stepcast::test::kSanitized && nodes != std::string_view("1")) continue;
    for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"}) {
      const std::vector<double> automatic = times(node, nodes, op, "");
      // Channels are whole: the best number of them may cost a size a little more than the best of the next.
      for (std::size_t i = 1; i < automatic.size(); ++i)
        EXPECT_GE(automatic[i], automatic[i - 1] * 0.998) << node << ' ' << op << ' ' << i;
      for (const char* protocol : {"Simple", "LL128", "LL"}) {
        const std::vector<double> named = times(node, nodes, op, protocol);
        for (std::size_t i = 0; i < named.size(); ++i)
          EXPECT_LE(automatic[i], named[i]) << node << ' ' << op << ' ' << i;
      }
    }
  }
}

TEST_F(Collective, PrintsNoMoreTimeForFasterAdapters) {
  const auto time = [&](const std::string& rate) {
    const auto json =
        nlohmann::json::parse(output({"--node", "frontier", "--nodes", "4", "--op", "broadcast", "--sizes", "1MiB",
                                      "--set", "cluster.nic_bandwidth=" + rate, "--format", "json"}));
    return json["rows"][0]["time_s"].get<double>();
  };
  EXPECT_LE(time("200Gbit/s"), time("100Gbit/s"));
}

TEST_F(Collective, WritesItsJsonContract) {
  const auto json = nlohmann::json::parse(output(
      {"--node", "dgx-a100-80gb", "--gpus", "4", "--sizes", "1MiB,1G", "--algorithm", "ring", "--format", "json"}));
  ASSERT_EQ(json["rows"].size(), 2u);
  const auto& row = json["rows"][1];
  EXPECT_EQ(row["op"], "all_reduce");
  EXPECT_EQ(row["algorithm"], "ring");
  EXPECT_EQ(row["ranks"], 4);
  EXPECT_EQ(row["size_bytes"], 1 << 30);
  const double seconds = row["time_s"];
  EXPECT_DOUBLE_EQ(row["algbw_GBps"], (1 << 30) / seconds / 1e9);
  EXPECT_DOUBLE_EQ(row["busbw_GBps"], (1 << 30) / seconds / 1e9 * 2 * 3 / 4);
}

TEST_F(Collective, PutsAllAlgorithmsSideBySideWithTheFastest) {
  const std::string text = output({"--node", "dgx-a100-80gb", "--sizes", "8B,128MiB", "--algorithm", "all"});
  for (const char* name : {"ring", "tree", "butterfly", "halving-doubling", "naive", "parameter-server", "tree-packing",
                           "pcie-nvlink-split", "fastest"}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("send-recv")));
}

TEST_F(Collective, PutsSomeAlgorithmsSideBySide) {
  const std::string text =
      output({"--node", "dgx-a100-80gb", "--sizes", "8B,128MiB", "--algorithm", "ring,double-binary-tree"});
  for (const char* name : {"ring", "double-binary-tree", "fastest"}) EXPECT_THAT(text, HasSubstr(name));
  EXPECT_THAT(text, testing::Not(HasSubstr("butterfly")));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "ring,ring"}), HasSubstr("found 'ring' twice"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "foo"}),
              HasSubstr("--algorithm: found 'foo', expected one of ring, tree,"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "foo"}), HasSubstr(", pat, auto, nccl, library, all"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "ring,auto"}), HasSubstr("found 'auto' in a list"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "ring,rign"}), HasSubstr("did you mean 'ring'?"));
}

TEST_F(Collective, ReducesInSwitchesOnlyWhereTheyCan) {
  const auto all = [&](const char* node) { return output({"--node", node, "--sizes", "8B", "--algorithm", "all"}); };
  EXPECT_THAT(all("dgx-a100-80gb"), testing::Not(HasSubstr("nvls")));
  EXPECT_THAT(all("dgx-h100"), HasSubstr("nvls"));
  const std::string sharp =
      output({"--node", "dgx-h100", "--nodes", "2", "--sizes", "8B", "--algorithm", "sharp", "--set",
              "cluster.fabric.base=rail-fat-tree-ndr", "--set", "cluster.fabric.in_network_reduction=true"});
  EXPECT_THAT(sharp, HasSubstr("float"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "nvls"}),
              HasSubstr("it needs one node whose NVSwitches join all GPUs and add (nvlink_sharp: true)"));
}

TEST_F(Collective, SaysWhatLinksAnAlgorithmNeeds) {
  EXPECT_THAT(error({"--node", "dgx-h100", "--nodes", "2", "--algorithm", "multi-ring"}),
              HasSubstr("over 16 ranks: it needs direct NVLinks that join all ranks in a ring"));
  EXPECT_THAT(error({"--node", "dgx-h100", "--nodes", "16", "--algorithm", "tree-packing"}),
              HasSubstr("over 128 ranks: it needs at most 72 ranks, whose links it searches"));
}

TEST_F(Collective, ExplainsTheBusiestLinkAndTheIdleOnes) {
  const std::string text = output({"--node", "dgx-a100-80gb", "--gpus", "4", "--sizes", "1GiB", "--explain"});
  EXPECT_THAT(text, HasSubstr("busiest link: node 0 / gpu"));
  EXPECT_THAT(text, HasSubstr("PCIe: 0 of"));
  EXPECT_THAT(text, HasSubstr("idle: node 0 / "));
}

TEST_F(Collective, PutsALogBesideThePrediction) {
  std::ofstream(file("run.log")) << "#       size         count    type   redop     time   algbw   busbw  error\n"
                                    "     1048576        262144   float     sum    100.0   10.49   18.35  0e+00\n"
                                    "   134217728      33554432   float     sum   1000.0  134.22  234.88  0e+00\n";
  const auto json = nlohmann::json::parse(output(
      {"--node", "dgx-a100-80gb", "--compare", file("run.log"), "--format", "json", "--plot", file("plot.svg")}));
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_DOUBLE_EQ(json["rows"][1]["measured_s"], 1e-3);
  EXPECT_NEAR(json["rows"][1]["error"], json["rows"][1]["time_s"].get<double>() / 1e-3 - 1, 1e-12);
  const std::string text = output({"--node", "dgx-a100-80gb", "--compare", file("run.log")});
  EXPECT_THAT(text, HasSubstr("median absolute error, 1 MB and more:"));
  const std::string svg = content(file("plot.svg"));
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_THAT(svg, HasSubstr(">measured</text>"));
}

TEST_F(Collective, PutsBothColumnsOfALogBesideThePrediction) {
  std::ofstream(file("run.log"))
      << "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
         "  64  2  float  none  -1  20.00  0.00  0.00  0  19.00  0.00  0.00  0\n"
         "  134217728  4194304  float  none  -1  600.0  223.70  195.73  0  580.0  231.41  202.48  0\n";
  const std::vector<std::string> asked = {"--node",     "dgx-a100-80gb", "--op",
                                          "all_gather", "--compare",     file("run.log")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), asked.begin(), asked.end());
    return output(more);
  };
  const auto rows = nlohmann::json::parse(with({"--format", "json"}))["rows"];
  // In place nobody copies his own part.
  EXPECT_LT(rows[1]["in_place_s"].get<double>(), rows[1]["time_s"].get<double>());
  EXPECT_DOUBLE_EQ(rows[1]["measured_in_place_s"], 580e-6);
  EXPECT_NEAR(rows[1]["error_in_place"], rows[1]["in_place_s"].get<double>() / 580e-6 - 1, 1e-12);
  EXPECT_THAT(with({}), HasSubstr("in place"));
  // One process launches the parts of all eight, one after the other.
  const auto one_process = nlohmann::json::parse(with({"--format", "json", "--gpus-per-process", "8"}))["rows"];
  const auto issue_s = [&](int gpus) {
    return nlohmann::json::parse(with({"--format", "json", "--gpus-per-process", std::to_string(gpus), "--set",
                                       "transport.issue=1ms"}))["rows"][0]["time_s"]
        .get<double>();
  };
  EXPECT_EQ(one_process[1]["time_s"], rows[1]["time_s"]);
  EXPECT_DOUBLE_EQ(issue_s(8), 8e-3);
  EXPECT_DOUBLE_EQ(issue_s(2), 2e-3);
  // Without a log too, no row takes less than that.
  const std::string forecast = output({"--node", "dgx-a100-80gb", "--sizes", "8B,1GiB", "--format", "json",
                                       "--gpus-per-process", "8", "--set", "transport.issue=1ms"});
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(forecast)["rows"][0]["time_s"].get<double>(), 8e-3);
  EXPECT_EQ(nlohmann::json::parse(forecast)["notes"],
            nlohmann::json({"8 GPUs a process, which launches their parts in 8.00 ms"}));
}

TEST_F(Collective, TakesFromALogWhatItSaysOfItsRun) {
  const std::string table =
      "#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
      "  64  2  float  sum  -1  90.00  0.00  0.00  0\n";
  const auto compared = [&](const std::string& before, std::vector<std::string> more = {}) {
    std::ofstream(file("run.log")) << before << table;
    more.insert(more.begin(), {"--node", "dgx-h100", "--compare", file("run.log"), "--set", "transport.issue=1ms"});
    return more;
  };
  const std::string said = "# nThread 1 nGpus 8 minBytes 64\nNCCL version 2.14.3+cuda11.8\n";
  const auto json = nlohmann::json::parse(output(compared(said, {"--format", "json"})));
  EXPECT_DOUBLE_EQ(json["rows"][0]["time_s"], 8e-3);
  EXPECT_EQ(json["notes"],
            nlohmann::json({"all_reduce is taken, as the log names no program and its columns are those of "
                            "reduce_scatter, send_recv as well: --op",
                            "8 GPUs a process, as the log says", "NCCL 2.14.3, as the log says",
                            "algorithms as NCCL's own model picks them: --algorithm"}));
  EXPECT_EQ(nlohmann::json::parse(output(
                compared(said, {"--format", "json", "--gpus-per-process", "2", "--set", "transport.nccl_version=2.20.5",
                                "--algorithm", "ring", "--op", "all_reduce"})))["notes"],
            nlohmann::json::array());
  const std::string assumed = output(compared(""));
  EXPECT_THAT(assumed, HasSubstr("note: one GPU a process is assumed"));
  EXPECT_THAT(assumed, HasSubstr("note: NCCL 2.30.7 is assumed"));
  EXPECT_THAT(error(compared("", {"--gpus-per-process", "3"})),
              HasSubstr("--gpus-per-process: found 3, expected a number that divides the 8 GPUs"));
  EXPECT_THAT(error(compared("# nThread 1 nGpus 16 x\n")), HasSubstr("found 16 GPUs a process (-g times -t)"));
  EXPECT_THAT(error(compared("", {"--op", "all_gather"})), HasSubstr("whose redop is that of a sum, expected 'none'"));
}

// sendrecv_perf prints a sum for its redop.
TEST_F(Collective, TellsByItsColumnsWhichOperationALogIsOf) {
  const auto log_of = [&](const char* redop, const char* root, double busbw) {
    std::ofstream(file("run.log")) << "#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
                                   << "  134217728  33554432  float  " << redop << "  " << root << "  1000.0  100.00  "
                                   << busbw << "  0\n";
    return std::vector<std::string>{"--node", "dgx-a100-80gb", "--compare", file("run.log")};
  };
  const auto taken = [&](const char* redop, const char* root, double busbw) {
    return output(log_of(redop, root, busbw));
  };
  EXPECT_THAT(taken("sum", "-1", 175), HasSubstr("note: all_reduce is taken"));
  EXPECT_THAT(taken("sum", "-1", 87.5), HasSubstr("note: reduce_scatter is taken"));
  EXPECT_THAT(taken("sum", "-1", 100),
              HasSubstr("note: send_recv is taken, as the log names no program and its columns "
                        "are like no other operation's: --op"));
  EXPECT_THAT(taken("sum", "0", 100), HasSubstr("note: reduce is taken"));
  EXPECT_THAT(taken("none", "0", 100), HasSubstr("note: broadcast is taken"));
  EXPECT_THAT(error(log_of("none", "-1", 87.5)),
              HasSubstr("--op: missing beside a log that names no program and whose columns are those of all_gather, "
                        "all_to_all, gather, scatter"));
  EXPECT_THAT(error(log_of("sum", "-1", 12)), HasSubstr("whose columns are like no operation's"));
  std::vector<std::string> said = log_of("sum", "-1", 100);
  said.insert(said.end(), {"--op", "send_recv"});
  EXPECT_THAT(output(said), HasSubstr("send_recv over 8 GPUs"));
  const std::string rows = content(file("run.log"));
  std::ofstream(file("run.log")) << "./build/all_gather_perf -b 128M\nRCCL version : 2.22.3-develop\n" << rows;
  const std::string named = output({"--node", "dgx-a100-80gb", "--compare", file("run.log")});
  EXPECT_THAT(named, HasSubstr("note: all_gather, as the log names its program"));
  EXPECT_THAT(named, HasSubstr("note: RCCL 2.22.3, as the log says, taken as the NCCL of that release"));
}

TEST_F(Collective, OfOneRankSaysThatItSendsNothing) {
  EXPECT_THAT(output({"--node", "dgx-h100", "--gpus", "1", "--sizes", "1MiB"}),
              HasSubstr("note: one rank has nobody to send to"));
}

TEST_F(Collective, TuningLeavesOutWhatTheNetworksPluginDoes) {
  const std::string text = output({"--node", "aws-p4d", "--nodes", "4", "--tuning"});
  EXPECT_THAT(text, HasSubstr("tree/Simple"));
  EXPECT_THAT(text, testing::Not(HasSubstr("/LL")));
}

TEST_F(Collective, NamesTheAllocationOfAFewGpusOfEachNode) {
  EXPECT_THAT(error({"--node", "aws-g4dn", "--nodes", "2", "--gpus", "2"}),
              HasSubstr("or for 1 GPU of each node allocation 'node0:0,node1:0'"));
  EXPECT_THAT(error({"--node", "dgx-h100", "--nodes", "8", "--gpus", "16"}),
              HasSubstr("allocation 'node0:0-1,node1:0-1,node2:0-1,node3:0-1,...'"));
}

TEST_F(Collective, SuggestsKeysOfTheSameLastName) {
  EXPECT_THAT(error({"--node", "dgx-h100", "--set", "cluster.nic=ethernet-100g-tcp"}),
              HasSubstr("did you mean 'cluster.node.nic'?"));
}

TEST_F(Collective, RefusesWhatNcclCannotBe) {
  const auto refused = [&](const char* setting) { return error({"--node", "dgx-h100", "--set", setting}); };
  EXPECT_THAT(refused("transport.nccl_version=3.1"), HasSubstr("expected a release 1.x or 2.x of NCCL"));
  EXPECT_THAT(refused("transport.ll.share=0.9"), HasSubstr("transport.ll.share: found '0.9"));
  EXPECT_THAT(refused("transport.ll128.share=0.99"), HasSubstr("expected at most 0.9375"));
  EXPECT_EQ(refused("transport.ll.share=0.5"), "no error");
}

TEST_F(Collective, BlamesANodeOrAFabricWhereItIsWritten) {
  std::ofstream(file("node.yaml")) << "base: dgx-h100\ngpus: 8\ntrays: 3\n";
  EXPECT_THAT(error({"--node", file("node.yaml")}), testing::ContainsRegex("node.yaml:3:[0-9]+: cluster.node.trays: "));
  std::ofstream(file("cluster.yaml"))
      << "node: dgx-h100\nnodes: 2\nfabric:\n  kind: rail-fat-tree\n  radix: 8\n  oversubscription: 8\n";
  EXPECT_THAT(error({"--cluster", file("cluster.yaml")}),
              testing::ContainsRegex("cluster.yaml:6:[0-9]+: cluster.fabric.oversubscription: found '8'"));
}

TEST_F(Collective, TakesTheTransportsConstantsFromTheCommandLine) {
  const auto time = [&](const char* launch) {
    return nlohmann::json::parse(
               output({"--node", "dgx-a100-80gb", "--sizes", "8B", "--algorithm", "ring/Simple", "--format", "json",
                       "--set", std::string("transport.launch=") + launch}))["rows"][0]["time_s"]
        .get<double>();
  };
  EXPECT_NEAR(time("50us") - time("10us"), 40e-6, 1e-12);
}

TEST_F(Collective, TakesSeparateServersAndUnevenSizes) {
  const std::vector<std::string> base = {"--node", "dgx-a100-80gb", "--sizes", "64MiB", "--format", "csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  EXPECT_THAT(output(with({"--servers", "4"})), testing::HasSubstr("sharded-parameter-server"));
  EXPECT_EQ(error(with({"--servers", "8"})), "--servers: found '8', expected a whole number from 1 to 7");
  EXPECT_EQ(
      error({"--node", "dgx-a100-80gb", "--nodes", "2", "--set", "cluster.nic_bandwidth=1B/s", "--sizes", "1GiB"}),
      "--sizes: a collective of these would take too long: one collective takes more than 106 days at the bandwidth "
      "of the links");
  EXPECT_EQ(error(with({"--servers", "2", "--algorithm", "ring"})),
            "--servers: 'ring' has none: that is for parameter servers");
  const auto table = [&](const std::string& text) {
    std::ofstream(file("table.csv")) << text;
    return with({"--op", "all_to_all", "--uneven", file("table.csv")});
  };
  std::string even = "# tokens\n";
  for (int row = 0; row < 8; ++row) even += "3,3,3,3,3,3,3,3\n";
  EXPECT_EQ(output(table(even)), output(with({"--op", "all_to_all"})));
  EXPECT_EQ(error(table("1,1\n1 -1\n")),
            file("table.csv") + ":2:3: found '-1', expected a whole number from 0 to 2147483647");
  EXPECT_EQ(error(table("1,1\n1\n")), file("table.csv") + ":2: found 1 numbers, expected 2 as in the first row");
  EXPECT_EQ(error(table("1,1\n")),
            file("table.csv") + ": found 1 rows of 2 numbers, expected a row and a column for each rank");
  const std::string four = ": found a table of 4 numbers, expected 8 rows of 8: one for each of the GPUs";
  EXPECT_EQ(error(table("1,1\n1,1\n")), file("table.csv") + four);
  std::vector<std::string> all = table("1,1\n1,1\n");
  all.insert(all.end(), {"--algorithm", "all"});
  EXPECT_EQ(error(all), file("table.csv") + four);
  const auto eight = [](const std::string& row) {
    std::string rows;
    for (int i = 0; i < 8; ++i) rows += row + "\n";
    return rows;
  };
  EXPECT_EQ(error(table(eight("0 0 0 0 0 0 0 0"))),
            file("table.csv") + ": found nothing but 0, expected what one rank at least sends another");
  EXPECT_EQ(error(table(eight("0 2147483647 1 0 0 0 0 0"))),
            file("table.csv") + ": found a sum of 2147483648 in row 1, expected at most 2147483647");
  EXPECT_EQ(error(with({"--uneven", file("table.csv")})),
            "--uneven: found " + in_quotes(file("table.csv")) +
                " beside --op all_reduce, expected --op all_to_all, which alone has a size for each pair of ranks");
}

TEST_F(Collective, DrawsAsPngToo) {
  output({"--node", "dgx-a100-80gb", "--sizes", "8B:1GiB", "--plot", file("plot.png")});
  const std::string png = content(file("plot.png"));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x06\xd6\0\0\x03\x98", 8));  // 1750 x 920: the page twice as large
  EXPECT_EQ(error({"--node", "dgx-a100-80gb", "--sizes", "8B", "--plot", file("plot.gif")}),
            "--plot: found '" + file("plot.gif") + "', expected a name that ends with .svg or .png");
}

TEST_F(Collective, SaysWhatIsWrong) {
  EXPECT_EQ(error({}), "stepcast collective: expected one of --cluster and --node");
  EXPECT_EQ(error({"--node", "dgx-2", "--cluster", "selene"}),
            "--cluster: found 'selene' beside --node dgx-2, expected one of the two");
  EXPECT_EQ(error({"--node", "dgx-2", "--op", "all_gather", "--servers", "3"}),
            "--servers: found '3' beside --op all_gather, expected --op all_reduce, which parameter servers do");
  EXPECT_THAT(error({"--node", "dgx-a100-80bg"}), HasSubstr("dgx-a100-80gb"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--op", "allreduce"}), HasSubstr("--op: found 'allreduce'"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--algorithm", "rign"}), HasSubstr("did you mean 'ring'?"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--sizes", "1M:8"}), HasSubstr("expected the smaller size first"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--sizes", "0:8"}), HasSubstr("0 times anything is 0"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--sizes", "8:900000000000000:1"}), HasSubstr("more than 1000 sizes"));
  for (const char* size : {"9223372036854775807", "99999999999999999999", "1000001GB", "8388607T",
                           "8:9223372036854775807", "8:9000000000000000000:1", "9007199254740992K"}) {
    EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--sizes", size}),
                testing::AllOf(HasSubstr("--sizes: found '"), HasSubstr("expected")))
        << size;
  }
  EXPECT_EQ(error({"--node", "dgx-a100-80gb", "--sizes", "9223372036854775807"}),
            "--sizes: found '9223372036854775807', expected at most 1000 TB");
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--sizes", "eight"}), HasSubstr("expected a size such as"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--set", "transprot.launch=1us"}), HasSubstr("unknown key"));
  EXPECT_THAT(error({"--node", "dgx-a100-80gb", "--compare", file("missing.log")}), HasSubstr("missing.log"));
}

TEST_F(Collective, TuningPrintsNcclsOwnTableAndPicks) {
  const std::string text = output({"--node", "dgx-h100", "--nodes", "4", "--tuning", "--set",
                                   "transport.nccl_version=2.27.5", "--sizes", "8B:1GiB"});
  EXPECT_THAT(text, HasSubstr("NCCL 2.27.5: its own model of all_reduce over 32 GPUs on 4 nodes"));
  EXPECT_THAT(
      text,
      HasSubstr("nvls_tree         8    40.0     48.0        -       -           -       -         81.0   160.0"));
  EXPECT_THAT(text, HasSubstr("from           8 B: tree/LL "));
  EXPECT_THAT(error({"--node", "dgx-h100", "--tuning", "--op", "all_to_all"}), HasSubstr("beside --tuning"));
  EXPECT_THAT(error({"--node", "dgx-h100", "--tuning", "--gpus", "1"}), HasSubstr("at least 2 GPUs"));
  EXPECT_EQ(error({"--node", "dgx-h100", "--tuning", "--algorithm", "ring"}),
            "--algorithm: found beside --tuning, which makes nothing of it; expected one of the two");
  EXPECT_THAT(error({"--node", "dgx-h100", "--tuning", "--format", "json"}), HasSubstr("--format: found beside"));
  EXPECT_THAT(error({"--node", "dgx-h100", "--compare", "x.log", "--sizes", "8B"}), HasSubstr("--sizes: found beside"));
  EXPECT_THAT(error({"--node", "dgx-h100", "--tuning", "--set", "transport.nccl_version=two"}),
              HasSubstr("found 'two', expected a release of NCCL"));
}

TEST_F(Collective, AlgorithmNcclShowsItsPicks) {
  const std::string text = output({"--node", "dgx-a100-80gb", "--software", "nccl-a100", "--algorithm", "nccl",
                                   "--sizes", "8B,4MiB,1GiB", "--format", "csv"});
  EXPECT_THAT(text, HasSubstr("ring,LL,"));
  EXPECT_THAT(text, HasSubstr("ring,LL128,"));
  EXPECT_THAT(text, HasSubstr("ring,Simple,"));
}

TEST(CollectiveReport, BusbwFollowsNcclTests) {
  const CollectiveResult row{.algorithm = "ring", .protocol = "Simple", .size = {1'000'000}, .time = microseconds(10)};
  CollectiveReport report{.operation = collectives::Operation::all_reduce, .ranks = 8, .rows = {row}, .log = ""};
  EXPECT_DOUBLE_EQ(algbw_GBps(row), 100);
  EXPECT_DOUBLE_EQ(busbw_GBps(report, row), 175);
  report.operation = collectives::Operation::gather;
  EXPECT_DOUBLE_EQ(busbw_GBps(report, row), 87.5);
  report.operation = collectives::Operation::broadcast;
  EXPECT_DOUBLE_EQ(busbw_GBps(report, row), 100);
}

TEST(CollectiveFlags, ThatContradictEachOtherAreErrors) {
  const auto of = [](const std::string& more) {
    return run_program("collective --node dgx-a100-80gb --sizes 1MiB " + more).err;
  };
  EXPECT_EQ(of("--nodes 3 --gpus 16"),
            "--gpus: cluster.gpus: found '16' beside nodes '3' of 8 GPUs, expected one of the two keys\n");
  EXPECT_EQ(of("--nodes 2 --gpus 16"), "");
  EXPECT_EQ(of("--gpus 16 --set cluster.gpus=8"),
            "--set cluster.gpus=8: cluster.gpus: found '8' beside '16' of --gpus, expected one of the two\n");
  EXPECT_EQ(of("--protocol LL --set transport.protocol=Simple"),
            "--set transport.protocol=Simple: software.transport.protocol: found 'Simple' beside 'LL' of --protocol, "
            "expected one of the two\n");
  EXPECT_EQ(of("--set transport.ll.share="), "");
  EXPECT_EQ(of("--set software="), "");
  EXPECT_EQ(run_program("collective --node dgx-a100-80gb --sizes 1KB").err,
            "--sizes: found '1KB', expected a size such as 8B, 64KiB, 1G; did you mean '1 kB' or '1 KiB'?\n");
}

}  // namespace
}  // namespace stepcast::app
