// stepcast run --chakra and stepcast replay.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "app/chakra_module/trace_bytes.h"
#include "app/modules/module.h"
#include "language/chakra/trace.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using language::ChakraNode;
using language::ChakraTrace;
using language::ChakraType;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kSchema = std::string(STEPCAST_SOURCE_DIR) + "/app/chakra_module/schema";

class Chakra : public testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    write_ = reinterpret_cast<decltype(write_)>(function_of_module("stepcast-chakra", "stepcast_write_trace", error));
    if (write_ == nullptr) GTEST_SKIP() << "built without protobuf (Debian: protobuf-compiler, libprotobuf-dev)";
    folder_ = fs::temp_directory_path() / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string prefix() const { return (folder_ / "t").string(); }

  void write(int rank, const ChakraTrace& trace) const {
    std::string bytes;
    write_(trace, bytes);
    std::ofstream(prefix() + "." + std::to_string(rank) + ".et", std::ios::binary) << bytes;
  }

  /// What replay says of traces that it refuses.
  std::string refused(const std::string& more = "--node dgx-h100") const {
    const Outcome outcome = run_program("replay " + prefix() + " " + more);
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }

  double replayed(const std::string& more = "--node dgx-h100", const char* key = "step_s") const {
    const Outcome outcome = run_program("replay " + prefix() + " " + more + " --format json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? nlohmann::json::parse(outcome.out)[key].get<double>() : -1;
  }

  decltype(&stepcast_write_trace) write_ = nullptr;
  fs::path folder_;
};

ChakraNode all_reduce(std::uint64_t id, std::int64_t bytes) {
  return {.id = id,
          .name = "all_reduce",
          .type = ChakraType::collective,
          .attributes = {{"is_cpu_op", false}, {"comm_type", std::int64_t{0}}, {"comm_size", bytes}}};
}

ChakraNode kernels(std::uint64_t id, std::uint64_t micros, std::vector<std::uint64_t> after = {}) {
  return {.id = id, .type = ChakraType::compute, .after = std::move(after), .duration_micros = micros};
}

class RoundTrip : public Chakra, public testing::WithParamInterface<const char*> {};

/// Data, tensor, pipeline, expert and context ranks, ZeRO, offload, local rounds, asynchronous workers, slow GPUs, two
/// kinds of GPU, schedules of many kinds.
TEST_P(RoundTrip, TakesTheSameStepToThePicosecond) {
  const std::string scenario = GetParam();
  if (test::kSanitized && scenario != "scenarios/mlp.yaml" && scenario != "scenarios/gpt-1.3b-local-sgd.yaml")
    GTEST_SKIP() << "the other scenarios are run in release";
  const Outcome run = run_program("run " + scenario + " --format json --chakra " + prefix());
  ASSERT_TRUE(run.status == 0 || run.status == 3) << run.err;
  const auto answer = nlohmann::json::parse(run.out);
  const double step = (answer.contains("results") ? answer["results"] : answer["scenarios"])[0]["step_time_s"];
  const std::string file = scenario.substr(0, scenario.find(' ')),
                    settings = scenario.size() > file.size() ? scenario.substr(file.size()) : "";
  EXPECT_EQ(replayed("--scenario " + file + settings), step);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, RoundTrip,
                         testing::Values("scenarios/quickstart.yaml", "scenarios/mlp.yaml", "scenarios/bert-large.yaml",
                                         "scenarios/gpt-1.3b-local-sgd.yaml", "scenarios/llama2-7b-zero3.yaml",
                                         "scenarios/gpt-10b-zero-offload.yaml", "scenarios/gpt-18b-tensor-grid.yaml",
                                         "scenarios/alexnet-one-weird-trick.yaml",
                                         "scenarios/gpt-1.3b-partition-output.yaml", "scenarios/gpt-1.3b-frozen.yaml",
                                         "scenarios/gpt-1.3b-pcie-box.yaml", "scenarios/k80-v100-pair.yaml",
                                         "scenarios/operators.yaml", "scenarios/bert-large-top-k.yaml",
                                         "scenarios/resnet-50-v100.yaml", "scenarios/pipeline-by-hand.yaml",
                                         "scenarios/vit-h-14.yaml", "scenarios/resnet-50-p100-256.yaml",
                                         "scenarios/gpt-30b-dualpipe.yaml", "scenarios/gpt3-175b-zero-bubble.yaml",
                                         "scenarios/llama3-8b-context-128k.yaml", "scenarios/gpt-1.3b-straggler.yaml",
                                         "scenarios/gpt3-175b-overlapped-tensor.yaml --set training.global_batch=16",
                                         "scenarios/mixtral-8x7b-64-h100.yaml",
                                         "scenarios/vgg-16-asynchronous.yaml --set cluster.nodes=6 --set "
                                         "training.global_batch=192"));

TEST_F(Chakra, AnAllReduceOfAnotherToolTakesWhatItTakesAlone) {
  for (int rank = 0; rank < 4; ++rank) {
    ChakraTrace trace{.version = "0.0.4", .nodes = {all_reduce(static_cast<std::uint64_t>(rank), 1 << 20)}};
    write(rank, trace);
  }
  const Outcome alone =
      run_program("collective --node dgx-h100 --gpus 4 --op all_reduce --sizes 1MiB --algorithm library --format json");
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("time_s"));
  EXPECT_GT(replayed("--node dgx-h100 --gpus 4"), 1e-6);
  EXPECT_LT(replayed("--node dgx-h100 --gpus 4"), 1e-3);
}

TEST_F(Chakra, TheTraceOfOneRankStandsForThoseOfAll) {
  for (int rank = 0; rank < 4; ++rank) write(rank, {.nodes = {all_reduce(static_cast<std::uint64_t>(rank), 1 << 20)}});
  const std::string words = " --node dgx-h100 --gpus 4";
  const Outcome all = run_program("replay " + prefix() + words);
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(run_program("replay " + prefix() + ".2.et" + words).out, all.out);
}

TEST_F(Chakra, KernelsAtOnceShareTheGpuAndThoseOfTheHostDoNot) {
  ChakraNode host = kernels(2, 40);
  host.attributes = {{"is_cpu_op", true}};
  write(0, {.nodes = {kernels(0, 10), kernels(1, 30), host}});
  EXPECT_DOUBLE_EQ(replayed(), 40e-6);
}

TEST_F(Chakra, AMessageLeavesThoughNobodyWaitsForIt) {
  const auto message = [](std::uint64_t id, ChakraType type, std::int32_t other, std::vector<std::uint64_t> after) {
    const char* const end = type == ChakraType::send ? "comm_dst" : "comm_src";
    return ChakraNode{.id = id,
                      .type = type,
                      .after = std::move(after),
                      .attributes = {{end, other}, {"comm_size", std::int64_t{1 << 20}}}};
  };
  for (int rank = 0; rank < 2; ++rank)  // each sends before it receives
    write(rank,
          {.nodes = {message(0, ChakraType::send, 1 - rank, {}), message(1, ChakraType::receive, 1 - rank, {0})}});
  EXPECT_GT(replayed(), 0);
}

TEST_F(Chakra, SaysWhatIsMissing) {
  write(0, {.nodes = {all_reduce(0, 1 << 20)}});
  write(2, {.nodes = {all_reduce(0, 1 << 20)}});
  EXPECT_THAT(refused(), HasSubstr("t.1.et: found no such file"));
  write(1, {.nodes = {}});
  EXPECT_THAT(refused(), HasSubstr("t.1.et: found 0 collectives of a process group of which others have 1"));
}

TEST_F(Chakra, SaysWhichNodeIsWrong) {
  write(0, {.nodes = {kernels(5, 1, {99})}});
  EXPECT_THAT(refused(), HasSubstr("t.0.et: node 5: dependencies: found 99"));
  write(0, {.nodes = {kernels(5, 1, {6}), kernels(6, 1, {5})}});
  EXPECT_THAT(refused(), HasSubstr("expected dependencies without a circle"));
  write(0, {.nodes = {kernels(5, 1), kernels(5, 1)}});
  EXPECT_THAT(refused(), HasSubstr("node 5: id: found 5 a second time"));
  ChakraNode node = all_reduce(7, 1);
  node.attributes[1].value = std::int64_t{17};
  write(0, {.nodes = {node}});
  EXPECT_THAT(refused(), HasSubstr("node 7 (all_reduce): comm_type: found 17"));
  node = all_reduce(7, 1);
  node.attributes.push_back({"pg_name", std::string("3")});
  write(0, {.nodes = {node}});
  EXPECT_THAT(refused(), HasSubstr("pg_name: found '3'"));
}

TEST_F(Chakra, SaysWhereATraceIsCutOff) {
  write(0, {.nodes = {all_reduce(0, 1 << 20)}});
  fs::resize_file(prefix() + ".0.et", fs::file_size(prefix() + ".0.et") - 3);
  EXPECT_THAT(refused(), HasSubstr("t.0.et: byte 1: expected Node number 1"));
}

TEST_F(Chakra, WritesOverNoOtherFileOfTheCommand) {
  const std::string run = "run scenarios/quickstart.yaml --chakra " + prefix() + " --output " + prefix();
  EXPECT_THAT(run_program(run + ".0.et").err, HasSubstr("which is where --output goes too"));
  EXPECT_THAT(run_program(run + ".stepcast.json").err, HasSubstr("which is where --output goes too"));
  EXPECT_FALSE(fs::exists(prefix() + ".0.et"));
}

TEST_F(Chakra, OfAStepWithASlowNodeNeedsAMachineThatHasIt) {
  ASSERT_EQ(run_program("run scenarios/quickstart.yaml --chakra " + prefix() +
                        " --set cluster.nodes=2 --set parallelism.pipeline=2 --set model.layers=8 --set "
                        "imperfections.slow_node=1 --set imperfections.network_speed=0.5")
                    .status &
                ~3,
            0);
  EXPECT_THAT(refused("--node dgx-2"),
              HasSubstr("found traces of a step whose node 1 is slow, expected more nodes than "
                        "the cluster's 1"));
}

TEST_F(Chakra, IsWhatThePublishedSchemaSays) {
  if (std::system("command -v protoc >/dev/null && command -v python3 >/dev/null") != 0) GTEST_SKIP() << "no protoc";
  ASSERT_EQ(run_program("run scenarios/quickstart.yaml --chakra " + prefix()).status, 0);
  // A file is messages after their lengths: the first node without these is what protoc decodes. Of a field that is in
  // no schema it prints the number.
  const std::string cut =
      "import sys\nb=open(sys.argv[1],'rb').read()\nat=0\nout=[]\n"
      "while at<len(b):\n n=s=0\n while True:\n  c=b[at];at+=1;n|=(c&127)<<s;s+=7\n  if c<128:break\n"
      " out.append(b[at:at+n]);at+=n\n"
      "open(sys.argv[2],'wb').write(out[1])\n";
  std::ofstream(folder_ / "cut.py") << cut;
  const std::string node = (folder_ / "node").string(), text = (folder_ / "text").string();
  ASSERT_EQ(std::system(("python3 " + (folder_ / "cut.py").string() + " " + prefix() + ".0.et " + node).c_str()), 0);
  ASSERT_EQ(std::system(("protoc --proto_path=" + kSchema + " --decode=ChakraProtoMsg.Node et_def.proto < " + node +
                         " > " + text)
                            .c_str()),
            0);
  std::ifstream in(text);
  std::string first;
  for (std::string line; std::getline(in, line); first += line + "\n")
    EXPECT_FALSE(!line.empty() && line[line.find_first_not_of(' ')] >= '0' && line[line.find_first_not_of(' ')] <= '9')
        << line;
  EXPECT_THAT(first, HasSubstr("stepcast.duration_ps"));
}

}  // namespace
}  // namespace stepcast::app
