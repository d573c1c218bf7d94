#include "app/logged_operation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using calibrate::NcclTestsTable;
using collectives::Operation;

/// "all_gather, all_to_all".
std::string listed(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation each : operations) text += (text.empty() ? "" : ", ") + std::string(collectives::name(each));
  return text;
}

bool may_have_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

}  // namespace

bool has_redop_of(const NcclTestsTable& table, Operation operation) {
  return !table.reduces || *table.reduces == reduces(operation) || operation == Operation::send_recv;
}

bool prints_so(const NcclTestsTable& table, Operation operation, std::uint32_t ranks) {
  constexpr double kNear = 0.01;  // bus factors of two operations over up to 50 ranks differ by more
  if (!has_redop_of(table, operation)) return false;
  if (table.has_root && *table.has_root && !may_have_root(operation)) return false;
  if (table.has_root && !*table.has_root && (operation == Operation::broadcast || operation == Operation::reduce))
    return false;
  if (!table.bus_over_alg || ranks < 2) return true;
  const double factor = collectives::bus_factor(operation, ranks);
  return std::abs(*table.bus_over_alg - factor) <= kNear * factor;
}

LoggedOperation logged_operation(std::span<const NcclTestsTable> tables, std::uint32_t ranks,
                                 const std::string& shown) {
  std::vector<Operation> named, alike;
  bool silent = false;
  for (const NcclTestsTable& table : tables) silent = silent || table.operation.empty();
  for (const Operation each : collectives::kOperations) {
    if (std::ranges::find(tables, collectives::name(each), &NcclTestsTable::operation) != tables.end())
      named.push_back(each);
    const auto fits = [&](const NcclTestsTable& table) { return prints_so(table, each, ranks); };
    if (std::ranges::all_of(tables, fits)) alike.push_back(each);
  }
  if (named.size() > 1)
    throw InputError("--op", "missing beside a log of " + listed(named) + " (" + shown + "), expected one of them");
  if (named.size() == 1 && !silent)
    return {named.front(), std::string(collectives::name(named.front())) + ", as the log names its program"};
  if (alike.empty())
    throw InputError("--op", "missing beside a log that names no program and whose columns are like no operation's (" +
                                 shown + "), expected the operation that it is of");
  const bool sums = std::ranges::find(alike, Operation::all_reduce) != alike.end();
  if (alike.size() > 1 && !sums)
    throw InputError("--op", "missing beside a log that names no program and whose columns are those of " +
                                 listed(alike) + " (" + shown + "), expected one of them");
  const Operation taken = sums ? Operation::all_reduce : alike.front();
  std::erase(alike, taken);
  return {taken, std::string(collectives::name(taken)) + " is taken, as the log names no program and " +
                     (alike.empty() ? "its columns are like no other operation's"
                                    : "its columns are those of " + listed(alike) + " as well") +
                     ": --op"};
}

}  // namespace stepcast::app
