#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"

namespace stepcast::schedules {

/// The first layer of a scenario's model, which must be one that contradicts nothing.
inline Block first_layer(const Scenario& s) {
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  const Blocks all = blocks(s);
  return *std::ranges::find_if(all.kinds, &Block::layer);
}

}  // namespace stepcast::schedules
