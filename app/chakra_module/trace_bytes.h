#pragma once

#include <string>

#include "language/chakra/trace.h"

/// The functions of the module stepcast-chakra, a shared object of its own: only traces need protobuf, which takes
/// longer to load than all else at start-up. A file is messages one behind the other, each after its length as a
/// varint: GlobalMetadata, then one Node for each node (app/chakra_module/schema/et_def.proto).

/// What the trace's file holds.
extern "C" void stepcast_write_trace(const stepcast::language::ChakraTrace& trace, std::string& bytes);

/// False: it is none, and `error` says where and why.
extern "C" bool stepcast_read_trace(const std::string& bytes, stepcast::language::ChakraTrace& trace,
                                    std::string& error);
