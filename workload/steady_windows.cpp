#include "workload/steady_windows.h"

#include <algorithm>

namespace stepcast::workload {

std::vector<SteadyWindow> steady_windows(std::span<const std::vector<Time>> updated) {
  Time end = updated.front().back();
  for (const std::vector<Time>& of_worker : updated) end = std::min(end, of_worker.back());
  std::vector<SteadyWindow> windows;
  for (const std::vector<Time>& ended : updated) {
    SteadyWindow& w = windows.emplace_back();
    while (w.from + 2 < ended.size() && ended[w.from + 1] <= Time{end.value / 3}) ++w.from;
    w.to = w.from + 1;
    while (w.to + 1 < ended.size() && ended[w.to] < end) ++w.to;
    w.rate = (w.to - w.from) / to_seconds(ended[w.to] - ended[w.from]);
  }
  return windows;
}

Time steady_step(std::span<const SteadyWindow> windows) {
  double all = 0;
  for (const SteadyWindow& window : windows) all += window.rate;
  return from_seconds(static_cast<double>(windows.size()) / all);
}

}  // namespace stepcast::workload
