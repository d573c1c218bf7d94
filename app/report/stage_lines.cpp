#include "app/report/stage_lines.h"

#include <algorithm>
#include <cmath>

namespace stepcast::app {
namespace {

struct StageGroup {
  StageLine line;
  std::vector<double> sums;
};

double stages_in(const StageGroup& group) { return static_cast<double>(group.line.last - group.line.first + 1); }

double distance(const StageGroup& a, const StageGroup& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.sums.size(); ++i) sum += std::abs(a.sums[i] / stages_in(a) - b.sums[i] / stages_in(b));
  return sum;
}

void join(StageGroup& group, const StageGroup& next) {
  group.line.last = next.line.last;
  for (std::size_t i = 0; i < group.sums.size(); ++i) group.sums[i] += next.sums[i];
}

}  // namespace

std::vector<StageLine> stage_lines(const std::vector<StageCells>& stages, std::size_t most) {
  std::vector<StageGroup> groups;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageGroup alone{{i, i, false}, stages[i].figures};
    if (i > 0 && stages[i].cells == stages[i - 1].cells)
      join(groups.back(), alone);
    else
      groups.push_back(alone);
  }
  std::vector<double> gaps;  // to the next group
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) gaps.push_back(distance(groups[i], groups[i + 1]));
  while (groups.size() > most) {
    const auto nearest = std::ranges::min_element(gaps);
    const auto at = static_cast<std::size_t>(nearest - gaps.begin());
    join(groups[at], groups[at + 1]);
    groups[at].line.differ = true;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    gaps.erase(nearest);
    if (at > 0) gaps[at - 1] = distance(groups[at - 1], groups[at]);
    if (at < gaps.size()) gaps[at] = distance(groups[at], groups[at + 1]);
  }
  std::vector<StageLine> lines;
  for (const StageGroup& group : groups) lines.push_back(group.line);
  return lines;
}

}  // namespace stepcast::app
