#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calibrate/bundle/load.h"
#include "calibrate/logs/log_bytes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

class Unpacking : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("stepcast-unpacking-" + std::to_string(getpid()));
};

TEST_F(Unpacking, KnowsTheFormatsThatProfilersWrite) {
  const std::string text = "one line of a log\n";
  const fs::path plain = write("plain", text);
  EXPECT_EQ(read_log(plain), text);
  EXPECT_EQ(unpack_log(text, "plain"), text);
  for (const std::string program : {"gzip", "bzip2", "xz", "zstd"}) {
    if (std::system(("command -v " + program + " >/dev/null").c_str()) != 0) continue;
    const fs::path packed = folder_ / (program + ".packed");
    ASSERT_EQ(std::system((program + " -c < '" + plain.string() + "' > '" + packed.string() + "'").c_str()), 0);
    EXPECT_EQ(read_log(packed), text) << program;
  }
}

/// libarchive knows these by their first bytes, and starts the program that unpacks them.
TEST_F(Unpacking, StartsNoProgramWhateverTheContent) {
  const std::string begins[] = {std::string("GRZipII\0\2\4:)", 12),
                                std::string("\x89LZO\0\r\n\x1a\n", 9) + std::string(64, '\0'),
                                std::string("LRZI\0\6", 6) + std::string(64, '\0')};
  const fs::path ran = folder_ / "ran";
  for (const std::string program : {"grzip", "lzop", "lrzip"}) {
    const fs::path script = write(program, "#!/bin/sh\necho " + program + " >> '" + ran.string() + "'\n");
    fs::permissions(script, fs::perms::owner_all);
  }
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
  for (const std::string& begin : begins) {
    EXPECT_EQ(read_log(write("log", begin)), begin);
    EXPECT_EQ(unpack_log(begin, "log"), begin);
    EXPECT_THROW(unpack_bundle(begin, "bundle"), InputError);
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(ran));
}

}  // namespace
}  // namespace stepcast::calibrate
