#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace stepcast {
namespace {

/// Gives the tests of this process, and the programs they start, a folder of their own for what they write, and removes
/// it after them: ctest runs many at once, and two that write a file of the same name would read each other's.
class OwnTempFolder : public testing::Environment {
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "stepcast-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder for temporary files: " + folder_);
    setenv("TEST_TMPDIR", folder_.c_str(), 1);  // testing::TempDir()
    setenv("TMPDIR", folder_.c_str(), 1);       // std::filesystem::temp_directory_path() and mktemp
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

[[maybe_unused]] const testing::Environment* const kOwnTempFolder =
    testing::AddGlobalTestEnvironment(new OwnTempFolder);  // which takes it over

}  // namespace
}  // namespace stepcast
