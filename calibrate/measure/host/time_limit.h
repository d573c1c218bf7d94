#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace stepcast::measure {

/// Seconds of a steady clock.
double steady_seconds();

/// How long a suite may start new measurements: `seconds` from when this is made, 0: for ever.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds, std::function<double()> now = steady_seconds);
  bool over() const;

 private:
  std::function<double()> now_;
  double seconds_, begin_;
};

/// Measures the cases of a plan in its order, but for those that are `done`; none starts once it is `over`. Returns how
/// many were left out for that.
template <class Case, class Done, class Over, class Measure>
std::size_t measure_in_time(const std::vector<Case>& plan, const Done& done, const Over& over, const Measure& measure) {
  std::size_t left_out = 0;
  for (const Case& one : plan) {
    if (done(one)) continue;
    if (left_out > 0 || over()) {
      ++left_out;
    } else {
      measure(one);
    }
  }
  return left_out;
}

/// "time limit: 3 of 60 kernels are not measured; start it again to go on".
std::string left_out_line(std::size_t left_out, std::size_t all, const std::string& what);

}  // namespace stepcast::measure
