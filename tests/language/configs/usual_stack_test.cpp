#include "language/configs/usual_stack.h"

#include <gtest/gtest.h>

#include "language/configs/cluster.h"
#include "language/configs/files.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

/// A node without its `nccl` gets the stack that its file names.
TEST(UsualStack, IsThatOfTheGenerationAndOfThePcieBoxes) {
  Library library = configs();
  for (const auto& [node, stack] : {std::pair{"dgx-1-p100", "nccl-p100"},
                                    {"dgx-1-v100-32gb", "nccl-v100"},
                                    {"dgx-a100-80gb", "nccl-a100"},
                                    {"dgx-h100", "nccl-h100"},
                                    {"dgx-b200", "nccl-b200"},
                                    {"gb200-nvl72", "nccl-gb200"},
                                    {"pcie-8x-l40s", "nccl-pcie"}}) {
    Value value;
    const Node file = library.expand_block(make_scalar(node, {"test", 0, 0}), node_schema(), "");
    value.node = &file;
    value.library = &library;
    const NodeFile read = read_node(value);
    EXPECT_EQ(usual_stack(read.spec, read.gpu.compute_capability).name, stack) << node;
    EXPECT_EQ(read.nccl, stack) << node;
  }
}

TEST(UsualStack, OfUnknownGpusIsSaidToBeAssumed) {
  topology::NodeSpec node;
  node.nvlink.emplace();
  EXPECT_EQ(usual_stack(node, 0).name, "nccl-a100");
  EXPECT_NE(usual_stack(node, 0).why.find("as neither"), std::string::npos);
  EXPECT_EQ(usual_stack(node, 121).name, "nccl-b200");
  node.nvlink.reset();
  EXPECT_EQ(usual_stack(node, 90).name, "nccl-pcie");
  node.gpus = 1;
  EXPECT_EQ(usual_stack(node, 90).name, "nccl-h100");
}

TEST(UsualStack, OfTpusIsSaidToBeNcclsOfOtherChips) {
  Library library = configs();
  for (const char* node : {"tpu-v4-4x4x4", "tpu-v5e-256", "tpu-v5p-4x4x4", "tpu-v6e-16"}) {
    Value value;
    const Node file = library.expand_block(make_scalar(node, {"test", 0, 0}), node_schema(), "");
    value.node = &file;
    value.library = &library;
    const NodeFile read = read_node(value);
    const UsualStack usual = usual_stack(read.spec, read.gpu.compute_capability);
    EXPECT_EQ(usual.name, "nccl-a100") << node;
    EXPECT_EQ(usual.why,
              "a stand-in: fitted to NCCL on DGX A100, while the chips of a torus (TPU) have no NCCL and nobody has "
              "fitted theirs")
        << node;
    EXPECT_EQ(read.nccl, "") << node;
  }
}

}  // namespace
}  // namespace stepcast::language
