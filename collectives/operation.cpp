#include "collectives/operation.h"

#include <stdexcept>

namespace stepcast::collectives {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::all_gather:
      return "all_gather";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::broadcast:
      return "broadcast";
    case Operation::reduce:
      return "reduce";
    case Operation::all_to_all:
      return "all_to_all";
    case Operation::send_recv:
      return "send_recv";
    case Operation::gather:
      return "gather";
    case Operation::scatter:
      return "scatter";
  }
  throw std::logic_error("an operation without a name");
}

double bus_factor(Operation operation, std::uint32_t ranks) {
  const double n = ranks;
  switch (operation) {
    case Operation::all_reduce:
      return 2 * (n - 1) / n;
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::all_to_all:
    case Operation::gather:
    case Operation::scatter:
      return (n - 1) / n;
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::send_recv:
      return 1;
  }
  return 1;
}

}  // namespace stepcast::collectives
