#include "calibrate/logs/log_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/archive_module/unpack.h"
#include "calibrate/bundle/load.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

class LogBytes : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  static std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("stepcast-log-bytes-" + std::to_string(getpid()));
};

TEST_F(LogBytes, AreUnpackedFromTheFormatsThatProfilersWrite) {
  const std::string text = "one line of a log\n";
  const fs::path plain = write("plain", text);
  EXPECT_FALSE(is_packed(text));
  EXPECT_FALSE(is_packed(""));
  for (const std::string program : {"gzip", "bzip2", "xz", "zstd"}) {
    if (std::system(("command -v " + program + " >/dev/null").c_str()) != 0) continue;
    const fs::path packed = folder_ / (program + ".packed");
    ASSERT_EQ(std::system((program + " -c < '" + plain.string() + "' > '" + packed.string() + "'").c_str()), 0);
    const std::string bytes = bytes_of(packed);
    EXPECT_TRUE(is_packed(bytes)) << program;
    EXPECT_EQ(unpack_log(bytes, "log", stepcast_unpack), text) << program;
    if (program == "zstd") {
      const std::string skipped("\x50\x2a\x4d\x18\4\0\0\0abcd", 12);
      EXPECT_TRUE(is_packed(skipped + bytes));
      EXPECT_EQ(unpack_log(skipped + bytes, "log", stepcast_unpack), text);
    }
    // Those of nothing, and one that breaks off.
    ASSERT_EQ(std::system((program + " -c < /dev/null > '" + packed.string() + "'").c_str()), 0);
    const std::string of_nothing = bytes_of(packed);
    EXPECT_TRUE(is_packed(of_nothing)) << program;
    EXPECT_EQ(unpack_log(of_nothing, "log", stepcast_unpack), "") << program;
    EXPECT_THROW(unpack_log(bytes.substr(0, bytes.size() / 2), "log", stepcast_unpack), InputError) << program;
  }
}

TEST_F(LogBytes, OfALogThatCannotBeUnpackedTellWhatTheUnpackerSays) {
  const auto complaint_by = [](Unpacker unpacker) -> std::string {
    try {
      unpack_log("\x1f\x8b\x08", "log.gz", unpacker);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint_by([](std::string_view, PackedForm, UnpackedSink&, std::string& error) {
              error = "bad header";
              return false;
            }),
            "log.gz: cannot be read: bad header");
  EXPECT_EQ(complaint_by([](std::string_view, PackedForm, UnpackedSink&, std::string&) { return false; }),
            "log.gz: cannot be read: unknown reason");
}

/// libarchive knows these by their first bytes, and starts the program that unpacks them.
TEST_F(LogBytes, StartNoProgramWhateverTheContent) {
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
    EXPECT_FALSE(is_packed(begin));
    EXPECT_EQ(unpack_log(begin, "log", stepcast_unpack), begin);
    EXPECT_THROW(unpack_bundle(begin, "bundle", stepcast_unpack), InputError);
  }
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(ran));
}

}  // namespace
}  // namespace stepcast::calibrate
