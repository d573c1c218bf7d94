#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/output.h"
#include "language/chakra/traces.h"
#include "workload/recorded_program.h"

namespace stepcast::app {

/// The files that a program of so many ranks is written as: PREFIX.RANK.et, PREFIX.json, PREFIX.stepcast.json. Throws
/// std::runtime_error where this stepcast was built without protobuf.
std::vector<NewFile> chakra_files(const workload::RecordedProgram& recorded, std::uint32_t ranks,
                                  const std::string& prefix);

/// Their names, before anything is simulated.
std::vector<std::string> chakra_file_names(std::uint32_t ranks, const std::string& prefix);

/// The traces PREFIX.0.et, PREFIX.1.et ... and what stands beside them. `named`: PREFIX, one of these files,
/// or a folder that holds the traces of one prefix. `groups`: the file of process groups; empty: PREFIX.json, if it is
/// there. Throws InputError where a file is none, or the one of a rank is missing.
language::Traces read_chakra(const std::string& named, const std::string& groups);

}  // namespace stepcast::app
