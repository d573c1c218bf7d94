#include "calibrate/measure/host/time_limit.h"

#include <chrono>
#include <utility>

namespace stepcast::measure {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TimeLimit::TimeLimit(double seconds, std::function<double()> now)
    : now_(std::move(now)), seconds_(seconds), begin_(now_()) {}

bool TimeLimit::over() const { return seconds_ > 0 && now_() - begin_ > seconds_; }

std::string left_out_line(std::size_t left_out, std::size_t all, const std::string& what) {
  return "time limit: " + std::to_string(left_out) + " of " + std::to_string(all) + " " + what +
         " are not measured; start it again to go on";
}

}  // namespace stepcast::measure
