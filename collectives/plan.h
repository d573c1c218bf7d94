#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace stepcast::collectives {

enum class RankId : std::uint32_t {};        ///< position in the communicator
enum class ConnectionId : std::uint32_t {};  ///< index into CollectivePlan::connections
enum class ChunkId : std::uint32_t {};       ///< index of a chunk of the plan
enum class TransferId : std::uint32_t {};    ///< index into CollectivePlan::transfers

constexpr std::uint32_t index(RankId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(ConnectionId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(ChunkId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(TransferId id) { return static_cast<std::uint32_t>(id); }

enum class Effect : std::uint8_t { copy, reduce };

/// Where the switches of a plan are: in the network, or one in every node (switch i in node i).
enum class SwitchesAt : std::uint8_t { network, nodes };

/// Transfers of a plan, and dependencies: 100 bytes each once they run. A plan that would have more is refused with an
/// InputError before it is made.
inline constexpr std::size_t kMostTransfers = std::size_t{1} << 23;
[[noreturn]] void refuse_transfers(std::size_t transfers);

/// Consecutive elements. In all_to_all elements are numbered over all the ranks: element e of what rank s sends is
/// s * elements + e. In every other operation a number means the same element at every rank.
struct Range {
  std::int64_t begin = 0, count = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// One channel's way from a rank to another, or to or from a switch that reduces (CollectivePlan::switches). Its
/// transfers run one after the other, in the order of the plan.
struct Connection {
  RankId source{}, destination{};
  std::uint32_t channel = 0;
  bool host_side = false;  ///< over PCIe and sockets, though NVLink joins them
};

/// The source's elements of a chunk go to the destination, which overwrites its own or adds to them. What is sent is
/// what the source holds when the transfer starts: two ranks can exchange the same elements (libraries receive into a
/// buffer of their own, then add).
struct Transfer {
  ConnectionId connection{};
  ChunkId chunk{};
  Effect effect = Effect::copy;
};

/// What every rank sends, to whom, and after what: pure data, which the timer times, the tests execute and the docs
/// draw. A transfer starts when those it comes `after` and the one before it on its connection have finished.
/// 12 bytes per transfer and 4 per dependency; element ranges are kept once per chunk.
struct CollectivePlan {
  std::uint32_t ranks = 0;
  std::uint32_t switches = 0;  ///< that add and copy, beside the ranks: numbers `ranks` on; they hold zeros at first
  SwitchesAt switches_at = SwitchesAt::network;
  std::uint32_t pieces = 1;  ///< cut from each channel's share and sent one behind the other
  /// Like rounds that the whole plan is made of, of which these transfers may be the first: equally many transfers
  /// each, the same bytes over the same connections, after the transfers of the round before it alone. 1: no such
  /// rounds.
  std::uint32_t rounds = 1;
  std::vector<Connection> connections;
  std::vector<Transfer> transfers;

  std::size_t chunks() const { return chunk_elements_.size(); }
  std::span<const Range> ranges(ChunkId chunk) const {
    return std::span(ranges_).subspan(chunk_begin_[index(chunk)],
                                      chunk_begin_[index(chunk) + 1] - chunk_begin_[index(chunk)]);
  }
  std::int64_t elements(ChunkId chunk) const { return chunk_elements_[index(chunk)]; }
  std::span<const TransferId> after(TransferId transfer) const {
    return std::span(after_).subspan(after_begin_[index(transfer)],
                                     after_begin_[index(transfer) + 1] - after_begin_[index(transfer)]);
  }

  ConnectionId connect(std::uint32_t source, std::uint32_t destination, std::uint32_t channel) {
    connections.push_back({RankId{source}, RankId{destination}, channel, false});
    return ConnectionId{static_cast<std::uint32_t>(connections.size() - 1)};
  }
  ChunkId add_chunk(std::span<const Range> ranges) {
    std::int64_t count = 0;
    for (const Range& range : ranges) {
      ranges_.push_back(range);
      count += range.count;
    }
    chunk_begin_.push_back(static_cast<std::uint32_t>(ranges_.size()));
    chunk_elements_.push_back(count);
    return ChunkId{static_cast<std::uint32_t>(chunk_elements_.size() - 1)};
  }
  ChunkId add_chunk(Range range) { return add_chunk(std::span<const Range>(&range, 1)); }
  TransferId add(Transfer transfer, std::span<const TransferId> after) {
    if (transfers.size() >= kMostTransfers) refuse_transfers(transfers.size() + 1);
    transfers.push_back(transfer);
    after_.insert(after_.end(), after.begin(), after.end());
    after_begin_.push_back(static_cast<std::uint32_t>(after_.size()));
    return TransferId{static_cast<std::uint32_t>(transfers.size() - 1)};
  }
  TransferId add(Transfer transfer, std::initializer_list<TransferId> after = {}) {
    return add(transfer, std::span<const TransferId>(after.begin(), after.size()));
  }
  void reserve(std::size_t transfer_count, std::size_t dependency_count) {
    if (const std::size_t most = transfer_count > dependency_count ? transfer_count : dependency_count;
        most > kMostTransfers)
      refuse_transfers(most);
    transfers.reserve(transfer_count);
    after_begin_.reserve(transfer_count + 1);
    after_.reserve(dependency_count);
  }

 private:
  std::vector<std::uint32_t> chunk_begin_{0}, after_begin_{0};
  std::vector<Range> ranges_;
  std::vector<std::int64_t> chunk_elements_;
  std::vector<TransferId> after_;
};

/// Part `index` of `parts` of a range: sizes differ by one element at most, the parts are in order and cover it.
/// Requires count * parts below 2^63 and index < parts.
constexpr Range part(Range range, std::uint32_t parts, std::uint32_t index) {
  const std::int64_t n = range.count, p = parts, i = index;
  const std::int64_t begin = n / p * i + n % p * i / p, end = n / p * (i + 1) + n % p * (i + 1) / p;
  return {range.begin + begin, end - begin};
}

}  // namespace stepcast::collectives
