#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/operation.h"
#include "sim/units.h"

namespace stepcast::language {

/// The numbers of CollectiveCommType in app/chakra_module/schema/et_def.proto.
enum class CollectiveType : std::int64_t {
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  broadcast,
  all_to_all,
  reduce_scatter,
  reduce_scatter_block,
  barrier
};

/// Requires an operation of a group, which send_recv is not.
CollectiveType type_of(collectives::Operation operation);

/// Nothing: the number is none of the schema. A barrier is an all_reduce, as frameworks make it.
std::optional<collectives::Operation> operation_of(CollectiveType type);

/// What traces call the size: what each rank brings. An all_gather's is a rank's part of the whole, as ASTRA-sim takes
/// it (astra-sim/system/astraccl/native_collectives/collective_algorithm/Ring.cc: its ring passes on messages of
/// comm_size and ends with as many times that as there are ranks); all others as collectives/operation.h counts them.
Bytes size_in_traces(collectives::Operation operation, Bytes size, std::size_t ranks);

/// And back.
Bytes size_of_traces(collectives::Operation operation, Bytes in_trace, std::size_t ranks);

}  // namespace stepcast::language
