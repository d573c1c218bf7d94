#pragma once

#include <cstdio>
#include <string>

namespace stepcast::measure {

/// A line to stderr: progress and complaints.
inline void say(const std::string& line) {
  std::fprintf(stderr, "stepcast_measure: %s\n", line.c_str());
  std::fflush(stderr);
}

}  // namespace stepcast::measure
