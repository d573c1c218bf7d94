#include "tests/fuzz/scenarios/choices.h"

#include <algorithm>

namespace stepcast::test {

std::uint64_t Choices::below(std::uint64_t end) {
  if (of_bytes_) {
    std::uint64_t number = 0;
    for (std::uint64_t reach = 1; reach < end && !bytes_.empty(); reach <<= 8) {
      number = number << 8 | bytes_.front();
      bytes_ = bytes_.subspan(1);
      if (reach >> 48 != 0) break;
    }
    return number % end;
  }
  // splitmix64: Steele, Lea and Flood, OOPSLA 2014.
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return (mixed ^ mixed >> 31) % end;
}

std::uint64_t Choices::divisor(std::uint64_t n, std::uint64_t most) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t d = 1; d <= std::min(n, most); ++d)
    if (n % d == 0) all.push_back(d);
  return of(all);
}

}  // namespace stepcast::test
