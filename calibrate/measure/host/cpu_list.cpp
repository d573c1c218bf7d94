#include "calibrate/measure/host/cpu_list.h"

#include <charconv>

namespace stepcast::measure {

std::vector<int> cpus_in(const std::string& list) {
  constexpr int kMost = 1 << 16;
  std::vector<int> cpus;
  const char *at = list.data(), *const end = at + list.size();
  const auto number = [&](int& value) {
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value < 0 || value >= kMost) return false;
    at = rest;
    return true;
  };
  while (at != end && *at != '\n') {
    int first = 0;
    if (!number(first)) return {};
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return {};
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at != end && *at == ',') {
      if (++at == end) return {};
    } else if (at != end && *at != '\n') {
      return {};
    }
  }
  return cpus;
}

}  // namespace stepcast::measure
