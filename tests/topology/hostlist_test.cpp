// Lists of nodes in Slurm's notation. The examples with tux, cn and rack are those of Slurm's pages (topology.conf(5),
// scontrol(1) "show hostnames") and of its hostlist's own documentation, written anew.

#include "topology/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Hostlist, StandsForNames) {
  EXPECT_THAT(expand_hostlist("login"), ElementsAre("login"));
  EXPECT_THAT(expand_hostlist("tux[0-2,12]"), ElementsAre("tux0", "tux1", "tux2", "tux12"));
  EXPECT_THAT(expand_hostlist("cn[098-101]"), ElementsAre("cn098", "cn099", "cn100", "cn101"));
  EXPECT_THAT(expand_hostlist("cn[8-11]"), ElementsAre("cn8", "cn9", "cn10", "cn11"));
  EXPECT_THAT(expand_hostlist("b,a[1-2],a0"), ElementsAre("b", "a1", "a2", "a0"));
  EXPECT_THAT(expand_hostlist("r[0-1]n[00-01]-ib"), ElementsAre("r0n00-ib", "r0n01-ib", "r1n00-ib", "r1n01-ib"));
  EXPECT_EQ(expand_hostlist("gpu[0001-1024]").size(), 1024u);
}

TEST(Hostlist, SaysWhichCharacterIsWrong) {
  const auto said = [](const char* text) { return error_of([&] { expand_hostlist(text, "--nodelist"); }); };
  EXPECT_EQ(said(""), "--nodelist: found an empty list of nodes, expected names such as 'gpu[001-064]'");
  EXPECT_EQ(said("a[1-"), "--nodelist: list of nodes 'a[1-': found the end as character 5, expected a number");
  EXPECT_EQ(said("a[1-3"),
            "--nodelist: list of nodes 'a[1-3': found the end as character 6, expected a number, '-', ',' or ']'");
  EXPECT_THAT(said("a,,b"), HasSubstr("found ',' as character 3, expected a name"));
  EXPECT_THAT(said("a b"), HasSubstr("found ' ' as character 2, expected a name, '[' or a comma"));
  EXPECT_THAT(said("a[5-2]"), HasSubstr("found '5' as character 3, expected a range that goes up"));
  EXPECT_THAT(said("a[1234567890]"), HasSubstr("expected a number of at most 9 digits"));
  EXPECT_THAT(said("a[0-99999]b[0-9]"), HasSubstr("more than 100000 names"));
  EXPECT_THAT(said("a]"), HasSubstr("found ']' as character 2"));
}

TEST(Hostlist, FoldsToAShortListOfTheSameNames) {
  EXPECT_EQ(fold_hostlist(expand_hostlist("gpu[001-064]")), "gpu[001-064]");
  EXPECT_EQ(fold_hostlist({"n9", "n10", "n12"}), "n[9-10,12]");
  EXPECT_EQ(fold_hostlist({"login", "n2", "n1"}), "login,n[2,1]");
  for (const char* list : {"a[08-11],b,a[7-12]", "r[0-1]n[00-11]", "x[099-101]y,x[1,01,001]", "7,8,9"}) {
    const std::vector<std::string> names = expand_hostlist(list);
    EXPECT_EQ(expand_hostlist(fold_hostlist(names)), names) << list << " became " << fold_hostlist(names);
  }
}

}  // namespace
}  // namespace stepcast::topology
