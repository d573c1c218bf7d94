#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::measure {

/// One size of a collective as nccl-tests prints it; seconds, negative where that way was not measured.
struct NcclTestsLine {
  std::int64_t bytes = 0, count = 0;
  double out_of_place = -1, in_place = -1;
  std::int64_t wrong_out = 0, wrong_in = 0;
};

/// The text that nccl-tests' programs print for one collective on one group of ranks: the header comments, the table,
/// and the average. `gpus`: of each node; `device`: what they are called; `redop`: "sum" or "none". For tools that read
/// such logs.
std::string nccl_tests_text(const std::string& collective, const std::string& redop, const std::vector<int>& gpus,
                            int nodes, const std::string& device, const std::vector<NcclTestsLine>& rows);

}  // namespace stepcast::measure
