#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stepcast::test {

/// Whether a text names what is no plain file: reading that may never end, and is never the same twice. Targets whose
/// input may name files leave such inputs alone.
inline bool names_devices(std::string_view text) {
  constexpr std::array<std::string_view, 4> kFolders = {"/dev", "/proc", "/sys", "/run"};
  return std::ranges::any_of(kFolders, [&](std::string_view f) { return text.find(f) != std::string_view::npos; });
}

}  // namespace stepcast::test
