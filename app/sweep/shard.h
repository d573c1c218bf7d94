#pragma once

#include <cstddef>
#include <string>

namespace stepcast::app {

/// One of several equal parts of a sweep: every `of`-th point from `number` on.
struct Shard {
  std::size_t number = 1, of = 1;

  bool operator==(const Shard&) const = default;
  bool has(std::size_t point) const { return point % of == number - 1; }
};

/// "2/4" behind --shard, from 1/n to n/n. Throws InputError.
Shard read_shard(const std::string& word);

std::string text(const Shard& shard);  ///< "2/4"

}  // namespace stepcast::app
