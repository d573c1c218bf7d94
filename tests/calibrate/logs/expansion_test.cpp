#include "calibrate/logs/expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/archive_module/unpack.h"
#include "calibrate/bundle/load.h"
#include "calibrate/logs/log_bytes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder in which shell commands make archives.
class Expansion : public testing::Test {
 protected:
  Expansion() { fs::create_directories(folder_); }
  ~Expansion() override { fs::remove_all(folder_); }
  std::string made(const std::string& name, const std::string& command) const {
    EXPECT_EQ(std::system(("cd '" + folder_.string() + "' && " + command).c_str()), 0) << command;
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("stepcast-expansion-" + std::to_string(getpid()));
};

template <class Function>
std::string complaint_of(Function function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

constexpr const char* kTooMuch = "found more than 100 times its ";

TEST(CheckExpansion, AllowsWhatLogsAndTablesCompressTo) {
  const auto said = [](std::size_t packed, std::size_t unpacked) {
    return complaint_of([&] { check_expansion(packed, unpacked, "f"); });
  };
  EXPECT_EQ(said(1, 16 << 20), "");
  EXPECT_EQ(said(1 << 20, 100 << 20), "");
  EXPECT_EQ(said(1 << 30, std::size_t{1} << 32), "");
  EXPECT_EQ(said(1, (16 << 20) + 1),
            "f: found more than 100 times its 1 bytes in it, expected a file that compresses "
            "less (or is unpacked already)");
  EXPECT_THAT(said(1 << 20, std::size_t{101} << 20), HasSubstr(kTooMuch));
}

TEST_F(Expansion, OfALogOfBlanksEndsEarly) {
  const std::string blanks = made("t.json.gz", "head -c 32M /dev/zero | tr '\\0' ' ' | gzip -1 > t.json.gz");
  EXPECT_THAT(complaint_of([&] { unpack_log(blanks, "t.json.gz", stepcast_unpack); }), HasSubstr(kTooMuch));
}

TEST_F(Expansion, OfAMemberThatIsNoTableEndsEarlyToo) {
  const std::string tar = made("b.tar.gz", "truncate -s 32M log.txt && tar -c log.txt | gzip -1 > b.tar.gz");
  EXPECT_THAT(complaint_of([&] { unpack_bundle(tar, "b.tar.gz", stepcast_unpack); }), HasSubstr(kTooMuch));
}

}  // namespace
}  // namespace stepcast::calibrate
