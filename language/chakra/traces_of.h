#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "language/chakra/trace.h"
#include "workload/recorded_program.h"

namespace stepcast::language {

/// The files that a program is written as: PREFIX.RANK.et, PREFIX.json and PREFIX.stepcast.json (docs/chakra.md).
struct ChakraFiles {
  std::vector<ChakraTrace> traces;  ///< by rank
  std::string groups;               ///< the process groups, as ASTRA-sim reads them
  std::string details;              ///< what no trace can say
};

/// A program of so many ranks that remembers whose tasks are whose.
ChakraFiles traces_of(const workload::RecordedProgram& recorded, std::uint32_t ranks);

}  // namespace stepcast::language
