#include "app/sweep/shard.h"

#include <charconv>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::size_t kMostShards = 100'000;

}  // namespace

Shard read_shard(const std::string& word) {
  Shard shard{0, 0};
  const char* const end = word.data() + word.size();
  const auto [slash, first] = std::from_chars(word.data(), end, shard.number);
  if (first == std::errc{} && slash != end && *slash == '/') {
    const auto [stop, second] = std::from_chars(slash + 1, end, shard.of);
    if (second == std::errc{} && stop == end && shard.number >= 1 && shard.number <= shard.of &&
        shard.of <= kMostShards)
      return shard;
  }
  throw InputError("--shard", "found " + in_quotes(word) + ", expected I/N, from 1/N to N/N, N at most 100000");
}

std::string text(const Shard& shard) { return std::to_string(shard.number) + "/" + std::to_string(shard.of); }

}  // namespace stepcast::app
