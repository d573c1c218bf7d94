#pragma once

#include <cstdint>
#include <string>

namespace stepcast::app {

/// A scenario of up to 64 GPUs with all kinds of parallelism mixed.
struct RandomPlan {
  std::string fabric;  ///< the kind of fabric or box that it was drawn on
  std::string yaml;
};

/// The same for one seed, whatever machine.
RandomPlan random_plan(std::uint64_t seed);

}  // namespace stepcast::app
