#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::topology {

/// The names that a list of Slurm's notation stands for, in its order: names between commas, in which brackets hold
/// numbers and ranges of them: "gpu[001-064,070],login1", "rack[0-1]node[00-15]" (the last bracket runs first). A
/// number has as many digits as the first one of its range is written with. Throws InputError(place, ...) with the
/// character for anything else, an empty list, and more than 100,000 names.
std::vector<std::string> expand_hostlist(std::string_view text, const std::string& place = {});

/// The same names as a short list: those in a row that differ in their last number alone stand in one bracket.
/// expand_hostlist gives them back in the same order.
std::string fold_hostlist(const std::vector<std::string>& names);

}  // namespace stepcast::topology
