#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::test {

/// The choices that make a random scenario: of a seed, always the same ones; or one after another out of the bytes of a
/// fuzzer's input, the first of each where they end.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), of_bytes_(true) {}

  /// A number from 0 up to, not including, `end`. Requires end >= 1.
  std::uint64_t below(std::uint64_t end);
  /// True in one of `n` cases. Bytes that have ended choose false.
  bool one_in(std::uint64_t n) { return below(n) == n - 1; }

  std::uint64_t of(std::initializer_list<int> all) {
    return static_cast<std::uint64_t>(all.begin()[below(all.size())]);
  }
  double of(std::initializer_list<double> all) { return all.begin()[below(all.size())]; }
  std::string of(std::initializer_list<const char*> all) { return all.begin()[below(all.size())]; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  /// One of the divisors of `n` up to `most`.
  std::uint64_t divisor(std::uint64_t n, std::uint64_t most);

 private:
  std::uint64_t state_ = 0;
  std::span<const std::uint8_t> bytes_;
  bool of_bytes_ = false;
};

}  // namespace stepcast::test
