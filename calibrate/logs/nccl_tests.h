#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units.h"

namespace stepcast::calibrate {

/// One line of an nccl-tests table.
struct NcclTestsRow {
  Bytes size{};
  std::uint32_t line = 0;  ///< of the log, from 1
  Time out_of_place{};
  std::optional<Time> in_place;  ///< none where the log says N/A or has no such column
};

/// One table: what ran up to its header, and its rows.
struct NcclTestsTable {
  std::string operation;    ///< "all_reduce", from the program's name; "" where the log does not say
  std::uint32_t ranks = 0;  ///< devices listed above it; 0 where none are
  std::uint32_t line = 0;   ///< of its header, from 1
  std::vector<NcclTestsRow> rows;
  std::uint32_t gpus_per_process = 0;  ///< nccl-tests' -g times -t; 0 where the log does not say
  std::string nccl_version{};          ///< "2.21.5", the library's; "" where the log does not say
  bool is_rccl = false;                ///< that release is of RCCL, AMD's library
  std::optional<bool> reduces{};       ///< its rows have a redop other than "none"; none where there is no such column
  std::optional<bool> has_root{};      ///< its rows have a root, not -1; none where there is no such column
  /// Bus bandwidth over algorithm bandwidth of its fastest row, both rounded as printed. None where no row is fast
  /// enough for two digits to tell: below 10 GB/s.
  std::optional<double> bus_over_alg{};
};

/// The tables of a log of nccl-tests, of any version: columns are told by the header (with or without redop and root,
/// error or #wrong). Lines of other programs (NCCL's INFO lines, warnings) are passed over; the prefixes of
/// mpirun ("[1,0]<stdout>:", "[0] ") and of srun -l ("0: ") are taken off. Throws InputError with the file and line for
/// a row that does not fit its header, breaks off or holds no numbers, for a header without rows, and for a log without
/// any table. `file` is what messages call it. O(characters).
std::vector<NcclTestsTable> parse_nccl_tests(std::string_view log, const std::string& file);

}  // namespace stepcast::calibrate
