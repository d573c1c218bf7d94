#include "language/configs/nccl_release.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "language/core/read_mapping.h"

namespace stepcast::language {

std::string nccl_release(const Value& v) {
  const auto is_number = [](const auto& part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::size_t parts = 0;
  bool numbers = true;
  for (std::size_t begin = 0; begin <= v.text.size(); ++parts) {
    const std::size_t end = std::min(v.text.find('.', begin), v.text.size());
    numbers = numbers && is_number(std::string_view(v.text).substr(begin, end - begin));
    begin = end + 1;
  }
  if (!numbers || parts < 2 || parts > 4)
    fail(v.node->place, v.path, "found " + found(*v.node) + ", expected a release of NCCL such as 2.21.5");
  // Of the second all up to 2.30.7 are known; one that is newer than that is as it.
  if (const std::string_view major(v.text.data(), v.text.find('.')); major != "1" && major != "2")
    fail(v.node->place, v.path, "found " + found(*v.node) + ", expected a release 1.x or 2.x of NCCL, such as 2.21.5");
  return v.text;
}

}  // namespace stepcast::language
