#pragma once

#include <cstddef>

namespace stepcast::test {

/// How much memory the process comes to hold above what it held when this was made, at its peak. Linux alone tells it;
/// elsewhere it is 0.
class PeakMemory {
 public:
  PeakMemory();
  std::size_t bytes() const;

 private:
  std::size_t before_ = 0;
};

}  // namespace stepcast::test
