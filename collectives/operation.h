#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stepcast::collectives {

/// Sizes are counted as nccl-tests counts them: all_reduce, broadcast, reduce: one rank's buffer; all_gather: the
/// gathered whole; reduce_scatter: one rank's whole input; all_to_all: all that one rank sends, its own part included;
/// send_recv: a message; gather: the gathered whole; scatter: the root's whole input.
enum class Operation : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv,
  gather,
  scatter
};

inline constexpr std::array kOperations = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                           Operation::broadcast,  Operation::reduce,     Operation::all_to_all,
                                           Operation::send_recv,  Operation::gather,     Operation::scatter};

std::string_view name(Operation operation);  ///< "all_reduce"

/// Every rank begins (all_gather) or ends (reduce_scatter) with one part of the whole: each is the other backwards.
constexpr bool by_parts(Operation operation) {
  return operation == Operation::all_gather || operation == Operation::reduce_scatter;
}

/// It consists of messages that one rank sends another, as NCCL's grouped sends and receives do.
constexpr bool by_messages(Operation operation) {
  return operation == Operation::all_to_all || operation == Operation::send_recv || operation == Operation::gather ||
         operation == Operation::scatter;
}

/// It adds up what ranks have: nccl-tests' tables of it have a redop.
constexpr bool reduces(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce || operation == Operation::reduce_scatter;
}

/// Bus bandwidth over algorithm bandwidth (size / time), as nccl-tests counts it: what each rank's links carry of each
/// byte (nccl-tests, doc/PERFORMANCE.md).
double bus_factor(Operation operation, std::uint32_t ranks);

}  // namespace stepcast::collectives
