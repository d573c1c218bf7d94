#include "calibrate/bundle/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/archive_module/unpack.h"
#include "sim/input_error.h"
#include "tests/calibrate/bundle/small_bundle.h"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The small bundle in a folder of its own, beside an archive of it.
class LoadBundle : public testing::Test {
 protected:
  void SetUp() override {
    for (const BundleFile& file : small_bundle()) {
      fs::create_directories((folder() / file.name).parent_path());
      std::ofstream(folder() / file.name, std::ios::binary) << file.text;
    }
    std::ofstream(folder() / "log.txt") << "not a table\n";
    ASSERT_EQ(std::system(("cd '" + base_.string() + "' && tar czf b.tar.gz bundle").c_str()), 0);
  }
  void TearDown() override { fs::remove_all(base_); }

  fs::path folder() const { return base_ / "bundle"; }
  fs::path packed() const { return base_ / "b.tar.gz"; }

  const fs::path base_ = fs::path(testing::TempDir()) / ("stepcast-load-" + std::to_string(getpid()));
};

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<BundleFile> unpacked(const std::string& bytes) { return unpack_bundle(bytes, "b.tar.gz", stepcast_unpack); }

template <class Function>
std::string complaint(Function function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST_F(LoadBundle, AFolderAndAnArchiveOfItAreTheSame) {
  const std::vector<BundleFile> files = load_bundle(folder()), of_archive = unpacked(bytes_of(packed()));
  ASSERT_EQ(files.size(), small_bundle().size());
  ASSERT_EQ(of_archive.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].name, of_archive[i].name);
    EXPECT_EQ(files[i].text, of_archive[i].text);
  }
  EXPECT_EQ(parse_bundle(files, "b").run, "r1");
}

TEST_F(LoadBundle, AnArchiveThatBreaksOffIsRefused) {
  const std::string whole = bytes_of(packed());
  for (std::size_t size = 1; size < whole.size(); size += 7) {
    try {
      parse_bundle(unpacked(whole.substr(0, size)), "b.tar.gz");
      ADD_FAILURE() << "read " << size << " of " << whole.size() << " bytes as a bundle";
    } catch (const InputError&) {
    }
  }
}

TEST_F(LoadBundle, SaysWhatIsNoBundle) {
  EXPECT_THAT(complaint([&] { unpacked(bytes_of(folder() / "machine.csv")); }),
              AllOf(HasSubstr("cannot be unpacked: "), HasSubstr("expected a folder or a tar archive")));
  fs::create_directories(base_ / "two");
  fs::copy(folder(), base_ / "two" / "a", fs::copy_options::recursive);
  fs::copy(folder(), base_ / "two" / "b", fs::copy_options::recursive);
  EXPECT_THAT(complaint([&] { load_bundle(base_ / "two"); }),
              HasSubstr("found two files machine.csv, expected one bundle"));
}

}  // namespace
}  // namespace stepcast::calibrate
