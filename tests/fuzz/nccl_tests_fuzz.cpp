// Any bytes as a log of nccl-tests: tables with rows, or refused with an InputError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "calibrate/logs/nccl_tests.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  test::refused([&] {
    for (const calibrate::NcclTestsTable& table :
         calibrate::parse_nccl_tests({reinterpret_cast<const char*>(data), size}, "fuzz.log")) {
      const auto none = [](const calibrate::NcclTestsRow& row) {
        return row.size.value < 0 || row.out_of_place < Time{} || row.in_place.value_or(Time{}) < Time{};
      };
      if (table.rows.empty() || std::ranges::any_of(table.rows, none)) std::abort();
    }
  });
  return 0;
}
