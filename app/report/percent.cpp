#include "app/report/percent.h"

#include <fmt/format.h>

namespace stepcast::app {

std::string signed_percent(double share) {
  std::string text = fmt::format("{:+.1f}%", 100 * share);
  if (text == "+0.0%" || text == "-0.0%") text.erase(0, 1);
  return text;
}

}  // namespace stepcast::app
