#include "calibrate/measure/host/step_parameters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace stepcast::measure {
namespace {

const StepCase kModel{.layers = 4, .hidden = 512, .heads = 8, .vocab = 1024, .sequence = 128};

TEST(StepParameters, OneGpuHoldsTheModel) {
  const StepParameters all = step_parameters(kModel, {});
  EXPECT_EQ(all.elements, parameters(kModel));
  EXPECT_EQ(all.tied, 1024 * 512);
}

TEST(StepParameters, LieOneBehindTheOtherWithMatricesFirstAndAligned) {
  for (const int tensor : {1, 2, 8}) {
    StepCase step = kModel;
    step.tensor = tensor;
    std::int64_t at = 0;
    bool vectors = false;
    for (const ParameterPart& part : step_parameters(step, {}).parts) {
      EXPECT_EQ(part.offset, at) << part.name;
      at += part.rows * part.columns;
      EXPECT_TRUE(part.rows == 1 || !vectors) << part.name;
      vectors = part.rows == 1;
      EXPECT_EQ(part.offset % (vectors ? 8 : 512), 0) << part.name;
    }
  }
}

TEST(StepParameters, RanksTogetherHoldEachElementOfWhatIsDividedOnce) {
  StepCase step = kModel;
  step.tensor = 2, step.pipeline = 2;
  std::map<std::string, std::vector<int>> held;  // how many ranks have each element
  for (int rank = 0; rank < step.gpus(); ++rank) {
    for (const ParameterPart& p : step_parameters(step, step_rank(step, rank)).parts) {
      std::vector<int>& of = held[p.name];
      for (std::int64_t r = 0; r < p.rows; ++r) {
        for (std::int64_t c = 0; c < p.columns; ++c) {
          const auto at = static_cast<std::size_t>((p.first_row + r) * p.whole_columns + p.first_column + c);
          if (of.size() <= at) of.resize(at + 1);
          ++of[at];
        }
      }
    }
  }
  for (const ParameterPart& p : step_parameters(kModel, {}).parts) {
    // Held by both tensor ranks: norms, positions, biases of sums; the embedding by both stages at the ends.
    const bool whole = p.name.find("norm") != std::string::npos || p.name == "positions" || p.name == "embedding" ||
                       p.name.find("projection bias") != std::string::npos ||
                       p.name.find("down bias") != std::string::npos;
    EXPECT_EQ(held.at(p.name), std::vector<int>(static_cast<std::size_t>(p.rows * p.columns), whole ? 2 : 1)) << p.name;
  }
}

TEST(StepParameters, TokensAndSeedsDifferFromPlaceToPlace) {
  EXPECT_NE(step_tokens(kModel, 0, false), step_tokens(kModel, 1, false));
  EXPECT_NE(step_tokens(kModel, 0, false), step_tokens(kModel, 0, true));
  EXPECT_EQ(step_tokens(kModel, 3, true), step_tokens(kModel, 3, true));
  std::set<std::uint64_t> seeds;
  for (int step = 0; step < 3; ++step) {
    for (int batch = 0; batch < 3; ++batch) {
      for (int layer = 0; layer < 3; ++layer) {
        for (const int half : {0, 1}) seeds.insert(dropout_seed(step, batch, layer, half));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 54u);
  EXPECT_NE(start_seed("layer 1 up weight"), start_seed("layer 2 up weight"));
}

}  // namespace
}  // namespace stepcast::measure
