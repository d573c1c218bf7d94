#include "collectives/execute.h"

#include <deque>
#include <string>

namespace stepcast::collectives {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

void move(const Plan& plan, const Transfer& transfer, std::vector<std::vector<std::int64_t>>& buffers) {
  const Connection& way = plan.connections.at(index(transfer.connection));
  const std::vector<std::int64_t>& from = buffers.at(index(way.source));
  std::vector<std::int64_t>& to = buffers.at(index(way.destination));
  for (const Range& range : plan.ranges(transfer.chunk)) {
    for (std::int64_t e = range.begin; e < range.begin + range.count; ++e) {
      const auto at = static_cast<std::size_t>(e);
      to.at(at) = transfer.effect == Effect::reduce ? to.at(at) + from.at(at) : from.at(at);
    }
  }
}

}  // namespace

void execute(const Plan& plan, std::vector<std::vector<std::int64_t>>& buffers, Turn turn) {
  const auto count = static_cast<std::uint32_t>(plan.transfers.size());
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
  for (std::uint32_t t = 0; t < count; ++t) {
    if (waits[t] == 0) ready.push_back(t);
  }
  std::uint32_t done = 0;
  while (!ready.empty()) {
    const std::uint32_t t = turn == Turn::first_ready_first ? ready.front() : ready.back();
    turn == Turn::first_ready_first ? ready.pop_front() : ready.pop_back();
    move(plan, plan.transfers[t], buffers);
    ++done;
    const auto release = [&](std::uint32_t waiting) {
      if (--waits[waiting] == 0) ready.push_back(waiting);
    };
    for (std::uint32_t i = begin[t]; i < begin[t + 1]; ++i) release(later[i]);
    if (next_on_connection[t] != kNone) release(next_on_connection[t]);
  }
  if (done == count) return;
  std::uint32_t stuck = 0;
  while (waits[stuck] == 0) ++stuck;
  const Connection& way = plan.connections[index(plan.transfers[stuck].connection)];
  throw CyclicPlan(std::to_string(count - done) + " of " + std::to_string(count) +
                   " transfers wait for each other in a circle; the first is transfer " + std::to_string(stuck) +
                   " from rank " + std::to_string(index(way.source)) + " to rank " +
                   std::to_string(index(way.destination)));
}

std::vector<RankId> unreached(const Plan& plan) {
  std::vector<bool> reached(plan.ranks);
  for (const Transfer& transfer : plan.transfers) {
    const Connection& way = plan.connections.at(index(transfer.connection));
    reached.at(index(way.source)) = true;
    reached.at(index(way.destination)) = true;
  }
  std::vector<RankId> missing;
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    if (!reached[rank]) missing.push_back(RankId{rank});
  }
  return missing;
}

}  // namespace stepcast::collectives
