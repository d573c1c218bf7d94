#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "language/configs/files.h"
#include "language/core/library.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

/// A library of links alone.
class Links : public testing::Test {
 protected:
  Links() : folder_(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "links");
    write("a", "family: x\nnccl: {simple: 10 us, ll: 1 us, share: 0.9}");
    write("b", "family: x\nnccl: {simple: 40 us, ll: 2 us, share: 0.5}");
    write("c", "family: x\nnccl: {simple: 20 us, ll: 9 us, share: 0.6}");
    write("d", "family: y\nnccl: {simple: 30 us, ll: 4 us, share: 0.8}");
    write("wire", "family: x\nnccl: {}");
    write("broken", "family: x\nnccl: {share: 7}");
  }
  ~Links() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "links" / (name + ".yaml")) << "kind: network\nbandwidth: 1 GB/s\n" << text << '\n';
  }
  topology::LinkType read(const std::string& name) const {
    Library library(folder_);
    const Node file = library.expand_block(make_scalar(name, {"test", 0, 0}), link_schema(), "");
    Value value;
    value.node = &file;
    value.library = &library;
    return read_link(value);
  }

  fs::path folder_;
};

TEST_F(Links, WithoutConstantsHaveTheMedianOfTheirFamily) {
  write("mine", "family: x");
  const topology::LinkType mine = read("mine");
  EXPECT_EQ(mine.nccl.simple, microseconds(20));
  EXPECT_EQ(mine.nccl.ll, microseconds(2));
  EXPECT_EQ(mine.nccl.share, 0.6);
  EXPECT_EQ(mine.nccl_assumed, "the median of the 3 networks of family x");
}

TEST_F(Links, WithoutAFamilyThatSomebodyMeasuredHaveTheMedianOfAll) {
  write("mine", "");
  write("other", "family: z");
  EXPECT_EQ(read("mine").nccl.simple, microseconds(25));
  EXPECT_EQ(read("mine").nccl_assumed, "the median of the 4 networks there are, as no family is named");
  EXPECT_EQ(read("other").nccl, read("mine").nccl);
}

TEST_F(Links, ThatSayTheirConstantsKeepThem) {
  EXPECT_EQ(read("d").nccl.simple, microseconds(30));
  EXPECT_EQ(read("d").nccl_assumed, "");
  EXPECT_EQ(read("wire").nccl, topology::NcclOverNetwork{});
  EXPECT_EQ(read("wire").nccl_assumed, "");
}

TEST_F(Links, OfAnotherFamilyThanTheirBaseDoNotInheritItsConstants) {
  std::ofstream(folder_ / "links/mine.yaml") << "base: d\nfamily: x\n";
  EXPECT_EQ(read("mine").nccl.simple, microseconds(20));
  std::ofstream(folder_ / "links/faster.yaml") << "base: d\nbandwidth: 2 GB/s\n";
  EXPECT_EQ(read("faster").nccl.simple, microseconds(30));
}

}  // namespace
}  // namespace stepcast::language
