#include "language/chakra/collective_types.h"

#include <array>
#include <utility>

namespace stepcast::language {
namespace {

using collectives::Operation;

constexpr std::array<std::pair<CollectiveType, Operation>, 10> kTypes{{
    {CollectiveType::all_reduce, Operation::all_reduce},
    {CollectiveType::reduce, Operation::reduce},
    {CollectiveType::all_gather, Operation::all_gather},
    {CollectiveType::gather, Operation::gather},
    {CollectiveType::scatter, Operation::scatter},
    {CollectiveType::broadcast, Operation::broadcast},
    {CollectiveType::all_to_all, Operation::all_to_all},
    {CollectiveType::reduce_scatter, Operation::reduce_scatter},
    {CollectiveType::reduce_scatter_block, Operation::reduce_scatter},
    {CollectiveType::barrier, Operation::all_reduce},
}};

/// Whether each rank brings a part of what the size counts.
bool brings_parts(Operation operation) { return operation == Operation::all_gather || operation == Operation::gather; }

}  // namespace

CollectiveType type_of(Operation operation) {
  for (const auto& [type, of] : kTypes)
    if (of == operation) return type;
  return CollectiveType::barrier;
}

std::optional<Operation> operation_of(CollectiveType type) {
  for (const auto& [of, operation] : kTypes)
    if (of == type) return operation;
  return std::nullopt;
}

Bytes size_in_traces(Operation operation, Bytes size, std::size_t ranks) {
  const auto parts = static_cast<std::int64_t>(ranks);
  return brings_parts(operation) ? Bytes{(size.value + parts - 1) / parts} : size;
}

Bytes size_of_traces(Operation operation, Bytes in_trace, std::size_t ranks) {
  return brings_parts(operation) ? in_trace * static_cast<std::int64_t>(ranks) : in_trace;
}

}  // namespace stepcast::language
