#pragma once

#include <string>
#include <vector>

namespace stepcast::measure {

/// Processors of a list as Linux writes it: "0-3,8" is 0, 1, 2, 3 and 8. Empty for what is no such list.
std::vector<int> cpus_in(const std::string& list);

}  // namespace stepcast::measure
