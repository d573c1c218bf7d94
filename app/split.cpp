#include "app/split.h"

namespace stepcast::app {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char each : text) {
    if (each == at)
      parts.emplace_back();
    else
      parts.back() += each;
  }
  return parts;
}

}  // namespace stepcast::app
