#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "collectives/timing/question.h"
#include "collectives/timing/timing.h"

namespace stepcast::collectives {

/// What a timer has answered, by the question as it was put: a plan asks for the same collectives again and again, and
/// to put many groups in order takes longer than to compare them. Not for use from several threads at once.
class TimerAnswers {
 public:
  /// Null: it was not asked yet.
  const Timing* known(const TimerQuestion& question) const;
  /// Keeps hold of `answer`. Says about how many bytes of memory that takes: none where it is known already.
  std::size_t remember(const TimerQuestion& question, const Timing& answer);

 private:
  using Size = std::tuple<std::int64_t, Operation, bool>;  ///< of the bytes, and whether ranks are folded
  struct TimedBefore {
    std::string algorithm;
    Details details;
    const Timing* timing = nullptr;
  };
  /// The answers of some groups, in one order.
  struct OfGroups {
    std::vector<Group> groups;
    std::map<Size, std::vector<TimedBefore>> answers;
  };

  std::unordered_map<std::uint64_t, std::vector<OfGroups>> by_hash_;  ///< of the groups
};

}  // namespace stepcast::collectives
