#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace stepcast::app {

/// "1 sample", "12 samples".
inline std::string how_many(std::integral auto number, std::string_view one) {
  return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

}  // namespace stepcast::app
