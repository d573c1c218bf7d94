#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "collectives/request.h"
#include "tests/collectives/grain.h"

namespace stepcast::collectives::test {

using Buffers = std::vector<std::vector<std::int64_t>>;

inline constexpr std::int64_t kGarbage = -123456789;

inline std::int64_t value(std::uint32_t rank, std::int64_t element) {
  return (rank + 1) * 1'000'003LL + element * 7919;
}

/// Of all ranks' values.
inline std::int64_t sum(std::uint32_t ranks, std::int64_t element) {
  const std::int64_t n = ranks;
  return n * (n + 1) / 2 * 1'000'003 + n * element * 7919;
}

/// What ranks hold before, by cell: only what the operation's definition says they have; the rest is garbage.
inline Buffers before(const Request& request, const Grain& grain) {
  const std::uint32_t n = request.ranks, workers = n - request.servers;
  Buffers buffers(n, std::vector<std::int64_t>(static_cast<std::size_t>(grain.cells()), kGarbage));
  for (std::uint32_t rank = workers; rank < n; ++rank) std::ranges::fill(buffers[rank], 0);
  for (std::uint32_t rank = 0; rank < workers; ++rank) {
    Range has = request.all();
    if (request.operation == Operation::all_gather || request.operation == Operation::gather) has = part(has, n, rank);
    if (own_buffers(request)) has.begin = rank * request.elements;
    const bool only_root = request.operation == Operation::broadcast || request.operation == Operation::scatter ||
                           (request.operation == Operation::send_recv && n == 2);
    if (only_root && rank != 0) has.count = 0;
    const Range cells = grain.cells(has);
    for (std::int64_t c = cells.begin; c < cells.begin + cells.count; ++c) {
      buffers[rank][static_cast<std::size_t>(c)] = value(rank, grain.element(c));
    }
  }
  return buffers;
}

/// The operation's definition; the first wrong element as text, or nothing.
inline std::string wrong(const Request& request, const Grain& grain, const Buffers& after) {
  const std::uint32_t n = request.ranks, workers = n - request.servers;
  const Messages messages(request);
  const auto check = [&](std::uint32_t rank, Range range, auto expected) -> std::string {
    const Range cells = grain.cells(range);
    for (std::int64_t c = cells.begin; c < cells.begin + cells.count; ++c) {
      const std::int64_t e = grain.element(c), found = after[rank][static_cast<std::size_t>(c)];
      if (found != expected(e)) {
        return "rank " + std::to_string(rank) + " element " + std::to_string(e) + ": found " + std::to_string(found) +
               ", expected " + std::to_string(expected(e));
      }
    }
    return {};
  };
  const auto total = [&](std::int64_t e) { return sum(workers, e); };
  const auto of = [](std::uint32_t rank) { return [rank](std::int64_t e) { return value(rank, e); }; };
  std::string error;
  for (std::uint32_t rank = 0; rank < workers && error.empty(); ++rank) {
    switch (request.operation) {
      case Operation::all_reduce:
        error = check(rank, request.all(), total);
        break;
      case Operation::reduce_scatter:
        error = check(rank, part(request.all(), n, rank), total);
        break;
      case Operation::broadcast:
        error = check(rank, request.all(), of(0));
        break;
      case Operation::reduce:
        error = rank == 0 ? check(0, request.all(), total) : "";
        break;
      case Operation::send_recv:
        if (n == 2)
          error = check(rank, request.all(), of(0));
        else
          error = check(rank, {(rank + n - 1) % n * request.elements, request.elements}, of((rank + n - 1) % n));
        break;
      case Operation::all_gather:
        for (std::uint32_t from = 0; from < n && error.empty(); ++from) {
          error = check(rank, part(request.all(), n, from), of(from));
        }
        break;
      case Operation::all_to_all:
        for (std::uint32_t from = 0; from < n && error.empty(); ++from) {
          error = check(rank, messages.of(from, rank), of(from));
        }
        break;
      case Operation::gather:
        for (std::uint32_t from = 0; rank == 0 && from < n && error.empty(); ++from) {
          error = check(0, part(request.all(), n, from), of(from));
        }
        break;
      case Operation::scatter:
        error = check(rank, part(request.all(), n, rank), of(0));
        break;
    }
  }
  return error;
}

inline Buffers before(const Request& request) { return before(request, Grain(request)); }
inline std::string wrong(const Request& request, const Buffers& after) { return wrong(request, Grain(request), after); }

}  // namespace stepcast::collectives::test
