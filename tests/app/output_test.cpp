// What is written where: devices, pipes, links and modes stay what they are, and all of a command's files are written
// or none.

#include "app/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "app/named_files.h"
#include "sim/input_error.h"
#include "tests/app/script.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(at("old")) << "old text, longer than the new one\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  struct stat status(const std::string& name) const {
    struct stat s {};
    EXPECT_EQ(lstat(at(name).c_str(), &s), 0) << name;
    return s;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("stepcast-output-" + std::to_string(getpid()));
};

TEST_F(Output, NewFilesHonourTheUmaskAndOldOnesKeepTheirMode) {
  const mode_t before = umask(027);
  write_output(at("new"), "new\n");
  umask(before);
  EXPECT_EQ(status("new").st_mode & 07777, 0640u);
  for (const mode_t mode : {0600u, 0664u, 0755u}) {
    chmod(at("old").c_str(), mode);
    write_output(at("old"), "new\n");
    EXPECT_EQ(status("old").st_mode & 07777, mode);
    EXPECT_EQ(read_text(at("old")), "new\n");
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(Output, OwnersStay) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(chown(at("old").c_str(), 12345, 23456), 0);
  write_output(at("old"), "new\n");
  EXPECT_EQ(status("old").st_uid, 12345u);
  EXPECT_EQ(status("old").st_gid, 23456u);
}

TEST_F(Output, SymbolicLinksAreFollowedWhetherTheirTargetIsThereOrNot) {
  fs::create_symlink("old", at("link"));
  fs::create_symlink("link", at("link-of-link"));
  fs::create_symlink("not-yet", at("dangling"));
  write_output(at("link-of-link"), "new\n");
  write_output(at("dangling"), "new\n");
  EXPECT_TRUE(fs::is_symlink(at("link")) && fs::is_symlink(at("link-of-link")) && fs::is_symlink(at("dangling")));
  EXPECT_EQ(read_text(at("old")), "new\n");
  EXPECT_EQ(read_text(at("not-yet")), "new\n");
  fs::create_symlink("circle", at("circle"));
  EXPECT_THROW(write_output(at("circle"), "new\n"), std::runtime_error);
}

TEST_F(Output, HardLinksKeepTogether) {
  fs::create_hard_link(at("old"), at("other"));
  write_output(at("old"), "new\n");
  EXPECT_EQ(read_text(at("other")), "new\n");
  EXPECT_EQ(status("old").st_nlink, 2u);
}

TEST_F(Output, ReadersOfTheOldTextKeepIt) {
  std::ifstream reader(at("old"));
  write_output(at("old"), "new\n");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old text, longer than the new one");
}

TEST_F(Output, WhereOneCannotBeWrittenNoneIs) {
  fs::create_hard_link(at("old"), at("other"));
  std::ofstream(at("single")) << "single\n";
  for (const std::string& bad : {at("no/such/folder"), folder_.string(), std::string("/dev/full")}) {
    const NewFile all[] = {{at("old"), "new\n"}, {at("single"), "new\n"}, {at("new"), "new\n"}, {bad, "new\n"}};
    EXPECT_THROW(write_files(all), std::runtime_error) << bad;
    EXPECT_EQ(read_text(at("old")), "old text, longer than the new one\n") << bad;
    EXPECT_EQ(read_text(at("other")), "old text, longer than the new one\n") << bad;
    EXPECT_EQ(read_text(at("single")), "single\n") << bad;
    EXPECT_EQ(files(), 3u) << bad;
  }
}

TEST_F(Output, DevicesAndPipesAreWrittenThrough) {
  const struct stat before = [] {
    struct stat s {};
    stat("/dev/null", &s);
    return s;
  }();
  ASSERT_TRUE(S_ISCHR(before.st_mode));
  const Outcome outcome = run_script(
      "cd " + folder_.string() +
      " && mkfifo pipe && (timeout 20 cat pipe > of-pipe & $stepcast keys --output pipe; wait)"
      " && $stepcast keys --output /dev/null && test -p pipe && test -c /dev/null && cmp of-pipe <($stepcast keys)"
      " && $stepcast keys --output >(cat > of-substitution; touch done)"
      " && $stepcast keys --output - | cmp - of-pipe && $stepcast keys --output /dev/stdout | cmp - of-pipe"
      " && echo first > log && $stepcast keys --output /dev/stdout >> log && head -1 log"
      " && $stepcast keys --output /dev/fd/7 7>>log && head -1 log");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "first\nfirst\n");
}

TEST_F(Output, AFullDiskIsAFailureWhateverIsPrinted) {
  for (const std::string words :
       {"--help", "--version", "keys", "keys --help", "topology dgx-a100-80gb --json", "run scenarios/quickstart.yaml",
        "run scenarios/quickstart.yaml --output /dev/full"}) {
    const Outcome outcome = run_script("$stepcast " + words + " > /dev/full");
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_NE(outcome.err.find(": No space left on device\n"), std::string::npos) << words << outcome.err;
  }
  EXPECT_EQ(run_script("$stepcast keys >&-").status, 1);
}

TEST_F(Output, AReaderThatLeavesEndsTheProgramAsItEndsOthersAndLeavesNothing) {
  const Outcome outcome = run_script("cd " + folder_.string() +
                                     " && $stepcast run " STEPCAST_SOURCE_DIR
                                     "/scenarios/quickstart.yaml --format json --trace t.json | true; "
                                     "echo ${PIPESTATUS[0]}; ls -A");
  EXPECT_TRUE(outcome.out == "141\nold\n" || outcome.out == "0\nold\nt.json\n") << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Output, TwoOutputsThatAreOneFileAreRefusedBeforeAnythingIsComputed) {
  fs::create_symlink("old", at("link"));
  fs::create_symlink("new", at("dangling"));
  fs::create_hard_link(at("old"), at("hard"));
  const auto refused = [&](const std::string& one, const std::string& other) {
    try {
      check_outputs(std::array{NamedFile{"--output", one}, NamedFile{"--trace", other}}, {});
    } catch (const InputError& e) {
      return std::string(e.what()) ==
             "--trace: found '" + other + "', which is where --output goes too, expected a file of its own";
    }
    return false;
  };
  EXPECT_TRUE(refused(at("new"), at("new")));
  EXPECT_TRUE(refused(at("new"), at("./new")));
  EXPECT_TRUE(refused(at("new"), at("no/../new")));
  EXPECT_TRUE(refused(at("new"), at("dangling")));
  EXPECT_TRUE(refused(at("old"), at("link")));
  EXPECT_TRUE(refused(at("old"), at("hard")));
  EXPECT_TRUE(refused("-", "/dev/stdout"));
  EXPECT_FALSE(refused(at("old"), at("new")));
  EXPECT_FALSE(refused("/dev/null", "/dev/null"));
  EXPECT_FALSE(refused("", ""));
  const Outcome outcome = run_program("run scenarios/quickstart.yaml --trace " + at("a.svg") +
                                      " --schedule-diagram=" + at("../" + folder_.filename().string() + "/a.svg"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(at("a.svg")));
}

TEST_F(Output, AFolderThatIsNotThereIsSaidBeforeAnythingIsComputed) {
  const auto said = [&](const std::string& path) {
    try {
      check_outputs(std::array{NamedFile{"--output", path}}, {});
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(said(at("none/a.svg")), "cannot write " + at("none/a.svg") + ": No such file or directory");
  fs::create_symlink("none/b", at("lost"));
  EXPECT_EQ(said(at("lost")), "cannot write " + at("lost") + ": No such file or directory");
  std::ofstream(at("file")) << "no folder";
  EXPECT_EQ(said(at("file/b")), "cannot write " + at("file/b") + ": Not a directory");
  for (const std::string& path : {at("a.svg"), std::string("a.svg"), std::string("-"), std::string()})
    EXPECT_EQ(said(path), "") << path;
}

TEST_F(Output, AnOutputThatIsAFileOfTheMachineIsRefused) {
  const std::string configs = STEPCAST_SOURCE_DIR "/configs/";
  fs::create_directories(at("own/nodes"));
  const auto copy = [&](const std::string& from, const std::string& to) { fs::copy_file(configs + from, at(to)); };
  copy("nodes/dgx-a100-80gb.yaml", "own/nodes/mine.yaml");
  copy("nodes/dgx-a100-80gb.yaml", "n.yaml");
  copy("fabrics/rail-fat-tree-hdr.yaml", "f.yaml");
  copy("software/nccl-a100.yaml", "s.yaml");
  for (const auto& [words, file] :
       {std::pair<std::string, const char*>{"collective --node ./n.yaml --sizes 8B --output n.yaml", "n.yaml"},
        {"collective --node dgx-a100-80gb --software ./s.yaml --sizes 8B --output s.yaml", "s.yaml"},
        {"topology dgx-a100-80gb --nodes 2 --fabric ./f.yaml --output f.yaml", "f.yaml"},
        {"show mine --output own/nodes/mine.yaml", "own/nodes/mine.yaml"},
        {"list nodes --output own/nodes/mine.yaml", "own/nodes/mine.yaml"}}) {
    const std::string bytes = read_text(at(file));
    const Outcome outcome = run_script("cd " + folder_.string() + " && STEPCAST_CONFIGS=own $stepcast " + words);
    EXPECT_EQ(outcome.status, 2) << words << outcome.err;
    EXPECT_NE(outcome.err.find("which is read"), std::string::npos) << words << outcome.err;
    EXPECT_EQ(read_text(at(file)), bytes) << words;
  }
}

TEST_F(Output, AnOutputThatIsReadIsRefused) {
  std::ofstream(at("a.yaml")) << "base: b.yaml\n";
  std::ofstream(at("b.yaml")) << read_text(STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml");
  const std::string bytes = read_text(at("b.yaml"));
  for (const std::string words :
       {"run a.yaml --output a.yaml", "run a.yaml --output ./b.yaml", "run . --trace=b.yaml",
        "run - --trace b.yaml < b.yaml", "run a.yaml >> b.yaml", "validate a.yaml --residuals b.yaml",
        "validate --against b.yaml --output b.yaml", "fit b.yaml --output b.yaml", "topology b.yaml --output b.yaml",
        "collective --node dgx-a100-80gb --compare b.yaml --plot b.yaml.svg --output b.yaml",
        "calibrate --import b.yaml --out b.yaml", "calibrate --bundle b.yaml --out b.yaml"}) {
    const Outcome outcome = run_script("cd " + folder_.string() + " && $stepcast " + words);
    EXPECT_EQ(outcome.status, 2) << words << outcome.err;
    EXPECT_NE(outcome.err.find("which is read"), std::string::npos) << words << outcome.err;
    EXPECT_EQ(read_text(at("b.yaml")), bytes) << words;
  }
}

}  // namespace
}  // namespace stepcast::app
