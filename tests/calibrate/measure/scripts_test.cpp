// The scripts that measure, run with stand-ins for the programs that need a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "calibrate/bundle/bundle.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_case.h"
#include "tests/calibrate/bundle/small_bundle.h"

namespace stepcast::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kScripts = STEPCAST_SOURCE_DIR "/scripts/";

class MeasuringScripts : public testing::Test {
 protected:
  MeasuringScripts() : folder_(fs::temp_directory_path() / ("stepcast-scripts-" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "bin");
  }
  ~MeasuringScripts() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void program(const std::string& name, const std::string& body) const {
    std::ofstream(folder_ / name) << "#!/bin/bash\n" << body;
    chmod(file(name).c_str(), 0700);
  }
  /// Exit status of a command; what it says is in the file `said`.
  int run(const std::string& command) const {
    const int status = std::system(("cd '" + folder_.string() + "' && PYTHONDONTWRITEBYTECODE=1 PATH='" + file("bin") +
                                    "':$PATH " + command + " >said 2>&1")
                                       .c_str());
    return WEXITSTATUS(status);
  }

 private:
  fs::path folder_;
};

TEST_F(MeasuringScripts, OneGpusStagesFitItsHalfHourAndItsTenMinutes) {
  ASSERT_EQ(run(kScripts + "measure_one_gpu.sh --dry-run --out b"), 0) << text("said");
  std::istringstream lines(text("said"));
  std::string name, rest;
  int seconds = 0, sum = 0;
  while (lines >> name >> seconds && std::getline(lines, rest)) {
    if (name == "all") break;
    EXPECT_LT(seconds, 600) << name;
    sum += seconds;
  }
  EXPECT_EQ(name, "all");
  EXPECT_EQ(seconds, sum);
  EXPECT_LT(sum, 1800);
}

TEST_F(MeasuringScripts, OneGpusStagesGoOnWhereTheyStopped) {
  program("measure", "echo \"measure $*\" >>calls; [[ $* != *--suite\\ steps* || -e mended ]] || exit 1\n");
  program("bin/compute-sanitizer", "echo sanitizer >>calls\n");
  program("python", "echo \"python $*\" >>calls\n");
  program("fit", "echo \"fit $*\" >>calls\n");
  const std::string command = "env STEPCAST_MEASURE=" + file("measure") + " PYTHON=" + file("python") +
                              " STEPCAST=" + file("fit") + " " + kScripts + "measure_one_gpu.sh --out b";
  EXPECT_EQ(run(command), 1);
  EXPECT_THAT(text("said"), HasSubstr("own: exit status 1; what it measured is kept"));
  EXPECT_THAT(text("calls"), HasSubstr("--mode compiled"));  // the rest went on
  EXPECT_THAT(text("calls"), HasSubstr("fit calibrate --bundle b --out b.yaml"));
  fs::remove(file("calls"));
  std::ofstream(file("mended")) << "yes";
  EXPECT_EQ(run(command), 0);
  EXPECT_EQ(text("calls"), "measure --alone --gpus 1 --out b --suite steps --time-limit 90\n");
  EXPECT_EQ(run(kScripts + "measure_one_gpu.sh --stage nothing"), 2);
}

TEST_F(MeasuringScripts, AFailedCheckTimesNothing) {
  program("measure", "echo \"$*\" >>calls; exit 3\n");
  EXPECT_EQ(run("env STEPCAST_MEASURE=" + file("measure") + " " + kScripts + "measure_one_gpu.sh --out b"), 1);
  EXPECT_EQ(text("calls"), "--check\n");
}

TEST_F(MeasuringScripts, MpirunHandsOnWhatNcclAndTheNetworkReadAndStartsAgainBehindACase) {
  program("bin/nvcc", "");
  program("bin/cmake", "");
  program("bin/nvidia-smi", "");
  // The first start of steps gives a case up, as the program's journal says.
  program("bin/mpirun",
          "echo \"$*\" >>mpi; [[ $* == *nccl,steps* ]] || exit 0\n"
          "if [[ -e twice ]]; then rm b/under_way.tmp; exit 0; fi\n"
          ": >twice; printf 'nccl\\nx\\nrank 3: hung\\n' >b/under_way.tmp; exit 5\n");
  fs::create_directories(file("build"));
  program("build/stepcast_measure", "");
  ASSERT_EQ(run("env NCCL_IB_HCA=mlx5 UCX_TLS=rc FI_PROVIDER=efa XNCCL_NOT=1 " + kScripts +
                "calibrate_dgx.sh --out b --build " + file("build") + " --hosts n1,n2 --quick --no-pytorch"),
            0)
      << text("said");
  std::istringstream lines(text("mpi"));
  std::string line;
  int starts = 0;
  for (; std::getline(lines, line); ++starts) {
    for (const char* name : {"-x NCCL_IB_HCA", "-x UCX_TLS", "-x FI_PROVIDER", "-x PATH"})
      EXPECT_THAT(line, HasSubstr(name));
    EXPECT_THAT(line, testing::Not(HasSubstr("XNCCL")));
  }
  EXPECT_EQ(starts, 2);
}

TEST_F(MeasuringScripts, PyTorchsKernelsCountTheBytesThatOurOwnCount) {
  ASSERT_EQ(run("python3 " + kScripts + "measure_pytorch_kernels.py --out b --list"), 0) << text("said");
  std::istringstream lines(text("said"));
  std::string line;
  int elementwise = 0;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.at(0) == "elementwise") ++elementwise;
  }
  EXPECT_GT(elementwise, 40);
  std::ofstream(file("bytes.py")) << "import sys; sys.path.insert(0, '" << kScripts << "')\n"
                                  << "import measure_pytorch_kernels as m\n"
                                     "for k, r, c in m.elementwise_plan(False):\n"
                                     "  for n in (k, m.backward_of(k)): print(n, r, c, m.elementwise_bytes(n, r, c))\n";
  ASSERT_EQ(run("python3 bytes.py"), 0) << text("said");
  std::istringstream rows(text("said"));
  std::string kernel;
  for (std::int64_t m = 0, n = 0, bytes = 0; rows >> kernel >> m >> n >> bytes;)
    EXPECT_EQ(bytes, elementwise_bytes(kernel, "bf16", m, n)) << kernel;
}

TEST_F(MeasuringScripts, PyTorchsTablesAreThoseThatABundleHas) {
  fs::create_directories(file("b"));
  std::ofstream(file("b/machine.csv")) << calibrate::small_bundle()[0].text;
  std::ofstream(file("write.py")) << "import sys; sys.path.insert(0, '" << kScripts << "')\n"
                                  << "import measure_pytorch_kernels as m\n"
                                     "def tables():\n"
                                     "  run = m.run_of('b')\n"
                                     "  return m.Table('b', 'pytorch_kernels.csv', run, m.KERNEL_COLUMNS, 12), "
                                     "m.Table('b', 'host.csv', run, m.HOST_COLUMNS, 3)\n"
                                     "kernels, host = tables()\n"
                                     "for by in m.ATTENTION:\n"
                                     "  for way in (False, True):\n"
                                     "    for shape in m.attention_plan(True):\n"
                                     "      kernels.add(m.attention_row(by, way, *shape), m.spread([1e-4, 2e-4, 3e-4]) "
                                     "+ ['-', '-', '-', 0, '-', '-'])\n"
                                     "row = m.elementwise_row('gelu', 'pytorch', 2048, 4096)\n"
                                     "kernels.add(row, m.spread([1e-4]) + ['-', '-', '-', 0, '-', '-'])\n"
                                     "host.add(['operator', 'pytorch', 40], m.spread([1e-5, 2e-5]))\n"
                                     "open('b/host.csv.part', 'a').write('checkpoint,pyt')  # killed here\n"
                                     "kernels, host = tables()\n"
                                     "assert kernels.has(row) and host.has(['operator', 'pytorch', 40]) and not "
                                     "host.has(['checkpoint', 'pytorch', 50])\n"
                                     "kernels.finish(); host.finish()\n"
                                     "kernels, host = tables()\n"
                                     "assert kernels.has(row)\n"
                                     "kernels.finish(); host.finish()\n";
  ASSERT_EQ(run("python3 write.py"), 0) << text("said");
  std::vector<calibrate::BundleFile> files = calibrate::small_bundle();
  for (calibrate::BundleFile& each : files)
    if (each.name == "pytorch_kernels.csv" || each.name == "host.csv") each.text = text("b/" + each.name);
  const calibrate::Bundle bundle = calibrate::parse_bundle(files, "b");
  EXPECT_EQ(bundle.host.size(), 1u);
  EXPECT_EQ(bundle.kernels.size(), 2u + 3 * 2 * 8 + 1);
  EXPECT_EQ(bundle.kernels.back().by, "pytorch");
}

}  // namespace
}  // namespace stepcast::measure
