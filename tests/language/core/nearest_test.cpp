#include "language/core/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepcast::language {
namespace {

using Names = std::vector<std::string_view>;

TEST(Nearest, FindsSlipsOfTheHand) {
  const Names names = {"global_batch", "micro_batch", "sequence"};
  EXPECT_EQ(nearest("micro_bacth", names), "micro_batch");    // two letters swapped
  EXPECT_EQ(nearest("microbatch", names), "micro_batch");     // one left out
  EXPECT_EQ(nearest("Sequence", names), "sequence");          // case
  EXPECT_EQ(nearest("global-batch", names), "global_batch");  // dash for underscore
  EXPECT_EQ(nearest("seq", names), "sequence");               // the start of it
  EXPECT_EQ(nearest("batch", names), "micro_batch");          // a part of it: the shortest that has it
}

TEST(Nearest, TakesWhatGoesOnWhereTheWordEndsBeforeOtherWords) {
  EXPECT_EQ(nearest("dgx-a100", Names{"dgx-a800", "dgx-a100-40gb", "dgx-a100-80gb"}), "dgx-a100-40gb");
  EXPECT_EQ(nearest("dgx-a10", Names{"dgx-a100-40gb", "dgx-a30"}), "dgx-a30");
}

TEST(Nearest, NamesAllThatGoOnWhereTheWordEnds) {
  EXPECT_EQ(did_you_mean("dgx-a100", Names{"dgx-a800", "dgx-a100-40gb", "dgx-a100-80gb"}),
            "; did you mean 'dgx-a100-40gb' or 'dgx-a100-80gb'?");
  EXPECT_EQ(did_you_mean("h100", Names{"azure-nc80adis-h100-v5", "dgx-h100"}), "; did you mean 'dgx-h100'?");
  EXPECT_EQ(did_you_mean("name", Names{"name-a", "name-b", "name-c", "name-d", "name-e"}),
            "; did you mean 'name-a', 'name-b', 'name-c' or 'name-d'?");
  EXPECT_EQ(did_you_mean("colour", Names{"sequence"}), "");
}

TEST(Nearest, FindsAnotherEndOfTheSameWord) {
  EXPECT_EQ(nearest("core_attention", Names{"core_attn", "mlp"}), "core_attn");
  EXPECT_EQ(nearest("core", Names{"cores_of_all"}), "cores_of_all");
}

TEST(Nearest, NamesThoseWithTheSameModelInThem) {
  EXPECT_EQ(did_you_mean("rtx4090", Names{"pcie-4x4090", "pcie-4x5090", "pcie-8x4090", "tpu-v4-4x4x4"}),
            "; did you mean 'pcie-4x4090' or 'pcie-8x4090'?");
  EXPECT_EQ(did_you_mean("my-cluster", Names{"your-cluster-of-h100", "dgx"}),
            "");  // a part without a number says nothing
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  EXPECT_EQ(nearest("colour", Names{"global_batch", "sequence"}), "");
  EXPECT_EQ(nearest("", Names{"a"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), Names{"a"}), "");
}

TEST(OneOf, ListsWhatIsAllowed) {
  EXPECT_EQ(one_of("", Names{"a"}), "a");
  EXPECT_EQ(one_of("flsh", Names{"unfused", "flash"}), "one of unfused, flash; did you mean 'flash'?");
  EXPECT_EQ(one_of("", Names{"a", "b", "c"}, 2), "one of a, b, c");  // all, where none is near
  EXPECT_EQ(one_of("gama", Names{"alpha", "beta", "gamma"}, 2),
            "one of alpha, beta, ... (3 in all); did you mean 'gamma'?");
}

}  // namespace
}  // namespace stepcast::language
