#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/task_graph.h"

namespace stepcast::schedules {

/// Tasks that several lanes join. Lanes are built one after the other and ask for their group's tasks in the same
/// order, so the n-th one asked for is the same for all of them: who asks first makes it.
class Joined {
 public:
  struct Turn {
    sim::TaskId task{};
    std::uint32_t number = 0;  ///< of the group's, from 0
  };

  /// The next task of a group that the lane has not joined yet. `make` returns a new task's id.
  template <class Make>
  Turn next(std::uint32_t lane, std::uint32_t group, const Make& make) {
    const std::uint32_t number = asked_[{lane, group}]++;
    std::vector<sim::TaskId>& made = made_[group];
    if (number == made.size()) made.push_back(make());
    return {made[number], number};
  }

 private:
  std::map<std::uint32_t, std::vector<sim::TaskId>> made_;                  ///< by group
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> asked_;  ///< by lane and group: how many
};

}  // namespace stepcast::schedules
