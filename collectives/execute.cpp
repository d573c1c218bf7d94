#include "collectives/execute.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <span>
#include <string>

namespace stepcast::collectives {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

using Buffers = std::vector<std::vector<std::int64_t>>;

std::span<std::int64_t> elements(std::vector<std::int64_t>& buffer, Range range) {
  const auto size = static_cast<std::int64_t>(buffer.size());
  if (range.begin < 0 || range.count < 0 || range.count > size - range.begin) {
    throw std::out_of_range("elements " + std::to_string(range.begin) + " to " +
                            std::to_string(range.begin + range.count) + " of " + std::to_string(size));
  }
  return std::span(buffer).subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.count));
}

std::vector<std::int64_t> taken(const CollectivePlan& plan, const Transfer& transfer, Buffers& buffers) {
  std::vector<std::int64_t>& from = buffers.at(index(plan.connections.at(index(transfer.connection)).source));
  std::vector<std::int64_t> sent;
  sent.reserve(static_cast<std::size_t>(plan.elements(transfer.chunk)));
  for (const Range& range : plan.ranges(transfer.chunk)) {
    const std::span<std::int64_t> part = elements(from, range);
    sent.insert(sent.end(), part.begin(), part.end());
  }
  return sent;
}

void deliver(const CollectivePlan& plan, const Transfer& transfer, const std::vector<std::int64_t>& sent,
             Buffers& buffers) {
  std::vector<std::int64_t>& to = buffers.at(index(plan.connections[index(transfer.connection)].destination));
  auto next = sent.begin();
  for (const Range& range : plan.ranges(transfer.chunk)) {
    const std::span<std::int64_t> part = elements(to, range);
    if (transfer.effect == Effect::reduce) {
      std::transform(part.begin(), part.end(), next, part.begin(), std::plus<>());
    } else {
      std::copy_n(next, range.count, part.begin());
    }
    next += range.count;
  }
}

}  // namespace

void execute(const CollectivePlan& plan, Buffers& buffers, TransferOrder turn) {
  const auto count = static_cast<std::uint32_t>(plan.transfers.size());
  const std::size_t ranks = buffers.size();
  if (plan.switches > 0) buffers.resize(ranks + plan.switches, std::vector<std::int64_t>(buffers.front().size()));
  std::vector<std::uint32_t> waits(count), begin(count + 1), next_on_connection(count, kNone);
  std::vector<std::uint32_t> last(plan.connections.size(), kNone);
  for (std::uint32_t t = 0; t < count; ++t) {
    for (const TransferId earlier : plan.after(TransferId{t})) {
      ++waits[t];
      ++begin.at(index(earlier) + 1);
    }
    std::uint32_t& before = last.at(index(plan.transfers[t].connection));
    if (before != kNone) {
      ++waits[t];
      next_on_connection[before] = t;
    }
    before = t;
  }
  for (std::uint32_t t = 0; t < count; ++t) begin[t + 1] += begin[t];
  std::vector<std::uint32_t> later(begin[count]), fill(begin.begin(), begin.end() - 1);
  for (std::uint32_t t = 0; t < count; ++t) {
    for (const TransferId earlier : plan.after(TransferId{t})) later[fill[index(earlier)]++] = t;
  }

  std::deque<std::uint32_t> ready;
  Buffers sent(count);
  const auto start = [&](std::uint32_t t) {
    sent[t] = taken(plan, plan.transfers[t], buffers);
    ready.push_back(t);
  };
  for (std::uint32_t t = 0; t < count; ++t) {
    if (waits[t] == 0) start(t);
  }
  std::uint32_t done = 0;
  while (!ready.empty()) {
    const std::uint32_t t = turn == TransferOrder::first_ready_first ? ready.front() : ready.back();
    turn == TransferOrder::first_ready_first ? ready.pop_front() : ready.pop_back();
    deliver(plan, plan.transfers[t], sent[t], buffers);
    sent[t] = {};
    ++done;
    const auto release = [&](std::uint32_t waiting) {
      if (--waits[waiting] == 0) start(waiting);
    };
    for (std::uint32_t i = begin[t]; i < begin[t + 1]; ++i) release(later[i]);
    if (next_on_connection[t] != kNone) release(next_on_connection[t]);
  }
  buffers.resize(ranks);
  if (done == count) return;
  std::uint32_t stuck = 0;
  while (waits[stuck] == 0) ++stuck;
  const Connection& way = plan.connections[index(plan.transfers[stuck].connection)];
  throw CyclicPlan(std::to_string(count - done) + " of " + std::to_string(count) +
                   " transfers wait for each other in a circle; the first is transfer " + std::to_string(stuck) +
                   " from rank " + std::to_string(index(way.source)) + " to rank " +
                   std::to_string(index(way.destination)));
}

std::vector<RankId> unreached(const CollectivePlan& plan) {
  std::vector<bool> reached(plan.ranks);
  for (const Transfer& transfer : plan.transfers) {
    const Connection& way = plan.connections.at(index(transfer.connection));
    for (const RankId end : {way.source, way.destination}) {
      if (index(end) < plan.ranks || index(end) >= plan.ranks + plan.switches) reached.at(index(end)) = true;
    }
  }
  std::vector<RankId> missing;
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    if (!reached[rank]) missing.push_back(RankId{rank});
  }
  return missing;
}

}  // namespace stepcast::collectives
