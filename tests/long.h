#pragma once

#include <cstdlib>

namespace stepcast::test {

/// Whether properties that hold of many random cases are tried on all of them, which takes minutes: with STEPCAST_LONG
/// in the environment. Otherwise on a part, which is the same in every run.
inline bool long_run() { return std::getenv("STEPCAST_LONG") != nullptr; }

}  // namespace stepcast::test
