#pragma once

#include <cstdint>
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

  /// Groups are numbered as lanes are: by one of their own.
  explicit Joined(std::uint32_t lanes) : made_(lanes), asked_(lanes) {}

  /// The next task of a group that the lane has not joined yet. `make` returns a new task's id.
  template <class Make>
  Turn next(std::uint32_t lane, std::uint32_t group, const Make& make) {
    const std::uint32_t number = asked(lane, group)++;
    std::vector<sim::TaskId>& made = made_[group];
    if (number == made.size()) made.push_back(make());
    return {made[number], number};
  }

 private:
  /// How many the lane has asked for. A lane is in one group, or in two.
  std::uint32_t& asked(std::uint32_t lane, std::uint32_t group) {
    for (auto& [of, count] : asked_[lane])
      if (of == group) return count;
    return asked_[lane].emplace_back(group, 0).second;
  }

  std::vector<std::vector<sim::TaskId>> made_;                               ///< by group
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> asked_;  ///< by lane: of which group, how many
};

}  // namespace stepcast::schedules
