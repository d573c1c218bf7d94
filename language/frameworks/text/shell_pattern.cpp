#include "language/frameworks/text/shell_pattern.h"

namespace stepcast::language {

std::optional<bool> fits_pattern(std::string_view text, std::string_view pattern) {
  if (pattern.find_first_of("$[\\") != pattern.npos) return std::nullopt;
  std::size_t at = 0, in = 0, star = pattern.npos, behind_star = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      behind_star = at;
    } else if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at])) {
      ++in;
      ++at;
    } else if (star != pattern.npos) {  // the last star takes one character more
      in = star + 1;
      at = ++behind_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == pattern.npos;
}

std::optional<std::string> without_fitting(std::string_view text, std::string_view pattern, PatternEnd end,
                                           bool longest) {
  constexpr std::size_t kMost = 1024;
  if (text.size() > kMost || text.find('$') != text.npos) return std::nullopt;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const std::size_t length = longest ? text.size() - i : i;
    const bool front = end == PatternEnd::front;
    const auto fits = fits_pattern(front ? text.substr(0, length) : text.substr(text.size() - length), pattern);
    if (!fits) return std::nullopt;
    if (*fits) return std::string(front ? text.substr(length) : text.substr(0, text.size() - length));
  }
  return std::string(text);
}

}  // namespace stepcast::language
