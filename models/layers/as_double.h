#pragma once

#include <cstdint>

namespace stepcast::schedules {

inline double d(std::int64_t n) { return static_cast<double>(n); }

}  // namespace stepcast::schedules
