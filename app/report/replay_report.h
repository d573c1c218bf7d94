#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/units.h"

namespace stepcast::app {

/// What replayed traces say of one rank.
struct ReplayedRank {
  std::uint32_t rank = 0;
  std::size_t nodes = 0;
  Time kernels{};  ///< its compute nodes, as long as they say
  Time end{};      ///< when its last node has ended
};

struct ReplayReport {
  std::string traces;  ///< what was replayed
  bool exact = false;  ///< with the details that stepcast writes
  Time step{}, end{};  ///< a step; when all has ended
  std::vector<ReplayedRank> ranks{};
};

/// Times in ms for people; in seconds, and in whole picoseconds, for programs.
std::string replay_table(const ReplayReport& report);
std::string replay_json(const ReplayReport& report);
std::string replay_csv(const ReplayReport& report);

}  // namespace stepcast::app
