#include "search/cut.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace stepcast::search {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

class Cutting {
 public:
  explicit Cutting(const Chain& chain)
      : chain_(chain),
        parts_(size(chain.kinds)),
        blocks_(size(chain.times.front())),
        ends_(parts_ * blocks_, kUnknown) {
    for (const std::vector<Time>& of_kind : chain.times) {
      std::vector<Time>& sums = sums_.emplace_back(1);
      for (const Time time : of_kind) sums.push_back(sums.back() + time);
    }
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      Time least = chain.times.front()[block];
      for (const std::vector<Time>& of_kind : chain.times) least = std::min(least, of_kind[block]);
      shortest_ = std::max(shortest_, least);
      least_sums_.push_back(least_sums_.back() + least);
    }
    even_ = Time{least_sums_.back().value / parts_};
    shortest_ = std::max(shortest_, even_);
    for (const std::vector<Time>& sums : sums_) whole_ = std::max(whole_, sums.back());
  }

  std::optional<std::vector<std::uint32_t>> best() {
    if (parts_ > blocks_ || !can_be_cut(whole_)) return std::nullopt;
    const Time least_sum = sums_.size() == 1 ? sums_.front().back() : least(whole_)->sum;
    std::optional<Time> lowest;
    std::vector<std::uint32_t> cut;
    for (std::optional<Time> longest = shortest_longest(); longest; longest = next_longer(*longest)) {
      if (lowest && *longest * chain_.repeats + least_sum >= *lowest) break;
      const Time whole = least(*longest)->sum + *longest * chain_.repeats;
      if (lowest && whole >= *lowest) continue;
      lowest = whole;
      cut = cut_found();
    }
    return cut;
  }

 private:
  /// Of the parts from one on.
  struct CutCost {
    Time sum{}, uneven{};  ///< what parts take past an even share
    bool operator<(const CutCost& other) const { return std::tie(sum, uneven) < std::tie(other.sum, other.uneven); }
  };

  template <class List>
  static std::uint32_t size(const List& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  Time time(std::uint32_t part, std::uint32_t first, std::uint32_t end) const {
    const std::vector<Time>& sums = sums_[chain_.kinds[part]];
    return sums[end] - sums[first];
  }

  /// Behind the last block that a part can hold from `first` on; no part behind it is left without.
  std::uint32_t last_end(std::uint32_t part, std::uint32_t first) {
    const std::uint32_t most = blocks_ - (parts_ - part - 1);
    if (!chain_.fits) return most;
    std::uint32_t& known = ends_[part * blocks_ + first];
    if (known != kUnknown) return known;
    std::uint32_t holds = first, fails = most + 1;
    const auto tried = [&](std::uint32_t end) {
      const bool fits = chain_.fits(part, first, end - first);
      (fits ? holds : fails) = end;
      return fits;
    };
    // About as many blocks as the part that was asked about last, then ever farther from that.
    std::uint32_t step = 1;
    if (const std::uint32_t guess = std::clamp(first + last_held_, first + 1, most); tried(guess))
      for (; fails - holds > step && tried(holds + step); step *= 2) continue;
    else
      for (; fails - holds > step && !tried(fails - step); step *= 2) continue;
    while (fails - holds > 1) {
      const std::uint32_t middle = holds + (fails - holds) / 2;
      tried(middle);
    }
    last_held_ = holds - first;
    return known = holds;
  }

  /// The same where it takes no longer than find_ends_within was told last.
  std::uint32_t end_within(std::uint32_t part, std::uint32_t first) {
    return std::min(ends_within_[chain_.kinds[part]][first], last_end(part, first));
  }

  /// Whether so many parts can take what comes before a block, and the others what comes behind.
  bool may_part(std::uint32_t parts, std::uint32_t block, Time longest) const {
    return least_sums_[block] <= longest * parts &&
           least_sums_.back() - least_sums_[block] <= longest * (parts_ - parts);
  }

  /// The places where a part may begin, by what parts before it and from it on can take; `last` before `first`: none.
  struct FirstBlocks {
    std::uint32_t first = 0, last = 0;
  };
  FirstBlocks may_begin(std::uint32_t part, Time longest) const {
    const auto before = std::upper_bound(least_sums_.begin(), least_sums_.end(), longest * part);
    const Time from_on = least_sums_.back() - longest * (parts_ - part);
    const auto first = std::lower_bound(least_sums_.begin(), least_sums_.end(), from_on);
    return {std::max(part, static_cast<std::uint32_t>(first - least_sums_.begin())),
            std::min(blocks_ - (parts_ - part), static_cast<std::uint32_t>(before - least_sums_.begin()) - 1)};
  }

  /// Makes ends_within_ what a part of each kind takes no longer than `longest` for.
  void find_ends_within(Time longest) {
    ends_within_.resize(sums_.size());
    for (std::size_t kind = 0; kind < sums_.size(); ++kind) {
      const std::vector<Time>& sums = sums_[kind];
      ends_within_[kind].resize(blocks_);
      for (std::uint32_t first = 0, end = 0; first < blocks_; ++first) {
        while (end < blocks_ && sums[end + 1] - sums[first] <= longest) ++end;
        ends_within_[kind][first] = end;
      }
    }
  }

  /// Whether no part needs to take longer.
  bool can_be_cut(Time longest) {
    find_ends_within(longest);
    // Each part as far as it can from where the one before it ends. A part that begins earlier ends no later.
    std::uint32_t end = 0;
    bool some_hold_none = false;
    for (std::uint32_t part = 0; part < parts_ && end < blocks_; ++part) {
      const std::uint32_t first = end;
      end = std::max(first, end_within(part, first));
      some_hold_none |= end == first;
    }
    if (end < blocks_ || !some_hold_none) return end == blocks_;
    return may_hold_one_later(longest);
  }

  /// The same, whatever part holds what. Requires find_ends_within(longest).
  bool may_hold_one_later(Time longest) {
    reached_.assign(blocks_ + 1, false);
    reached_[0] = true;
    for (std::uint32_t part = 0; part < parts_; ++part) {
      next_reached_.assign(blocks_ + 1, false);
      std::uint32_t next = part + 1;  // all before it are known; where a part ends later, it may begin later
      for (std::uint32_t first = part; first + (parts_ - part) <= blocks_; ++first) {
        if (!reached_[first] || !may_part(part, first, longest)) continue;
        const std::uint32_t end = end_within(part, first);
        for (next = std::max(next, first + 1); next <= end; ++next) next_reached_[next] = true;
      }
      reached_.swap(next_reached_);
    }
    return reached_[blocks_];
  }

  /// The shortest that the longest part can be. Requires can_be_cut(whole_).
  Time shortest_longest() {
    Time fails = shortest_ - Time{1}, holds = shortest_;
    for (Time step{1 + shortest_.value / 8}; !can_be_cut(holds); step += step) {
      fails = holds;
      holds += step;
    }
    for (;;) {  // between two times of parts nothing changes
      const Time next = *next_longer(fails);
      if (can_be_cut(next)) return next;
      const Time middle{next.value + (holds.value - next.value) / 2};
      fails = next;
      (can_be_cut(middle) ? holds : fails) = middle;
    }
  }

  /// The least time of any part that takes longer.
  std::optional<Time> next_longer(Time longest) const {
    std::optional<Time> next;
    for (const std::vector<Time>& sums : sums_)
      for (std::uint32_t first = 0, end = 0; first < blocks_; ++first) {
        while (end <= blocks_ && sums[end] - sums[first] <= longest) ++end;
        if (end > blocks_) break;
        const Time time = sums[end] - sums[first];
        if (!next || time < *next) next = time;
      }
    return next;
  }

  /// The least cost of a cut whose parts take no longer. Remembers how each part goes on.
  std::optional<CutCost> least(Time longest) {
    // Of each part only the places are looked at where it may begin: theirs alone are cleared.
    costs_.resize(std::size_t{parts_ + 1} * (blocks_ + 1));
    chosen_.resize(costs_.size());
    costs_[at(0, 0)].reset();
    costs_[at(parts_, blocks_)] = CutCost{};
    find_ends_within(longest);
    FirstBlocks ends{blocks_, blocks_};
    for (std::uint32_t part = parts_; part-- > 0;) {
      const FirstBlocks firsts = may_begin(part, longest);
      for (std::uint32_t first = firsts.first; first <= firsts.last; ++first) {
        std::optional<CutCost>& known = costs_[at(part, first)];
        known.reset();
        for (std::uint32_t end = std::min(end_within(part, first), ends.last); end > first && end >= ends.first;
             --end) {
          const std::optional<CutCost>& rest = costs_[at(part + 1, end)];
          if (!rest) continue;
          const Time own = time(part, first, end);
          const CutCost cost{rest->sum + own, rest->uneven + std::max(own - even_, Time{})};
          if (known && !(cost < *known)) continue;
          known = cost;
          chosen_[at(part, first)] = end;
        }
      }
      ends = firsts;
    }
    return costs_[at(0, 0)];
  }

  std::vector<std::uint32_t> cut_found() const {
    std::vector<std::uint32_t> cut;
    for (std::uint32_t part = 0, first = 0; part < parts_; ++part) {
      const std::uint32_t end = chosen_[at(part, first)];
      cut.push_back(end - first);
      first = end;
    }
    return cut;
  }

  std::size_t at(std::uint32_t part, std::uint32_t first) const { return std::size_t{part} * (blocks_ + 1) + first; }

  const Chain& chain_;
  const std::uint32_t parts_, blocks_;
  std::vector<std::vector<Time>> sums_;                  ///< by kind of stage: of all blocks before one
  std::vector<Time> least_sums_{Time{}};                 ///< the same on the fastest kind of each block
  Time even_{}, shortest_{}, whole_{};                   ///< an even share; no longest part is shorter; none is longer
  std::vector<std::uint32_t> ends_;                      ///< by part and first block, where `fits` is asked
  std::uint32_t last_held_ = 1;                          ///< blocks that the part can hold which was asked about last
  std::vector<char> reached_, next_reached_;             ///< whether the parts so far may end before a block
  std::vector<std::vector<std::uint32_t>> ends_within_;  ///< by kind of stage and first block: behind its last one
  std::vector<std::optional<CutCost>> costs_;
  std::vector<std::uint32_t> chosen_;
};

}  // namespace

Time pipeline_time(const Chain& chain, const std::vector<std::uint32_t>& cut) {
  Time all{}, longest{};
  for (std::size_t part = 0, first = 0; part < cut.size(); first += cut[part++]) {
    Time own{};
    for (std::size_t block = first; block < first + cut[part]; ++block) own += chain.times[chain.kinds[part]][block];
    all += own;
    longest = std::max(longest, own);
  }
  return all + longest * chain.repeats;
}

std::optional<std::vector<std::uint32_t>> best_cut(const Chain& chain) { return Cutting(chain).best(); }

}  // namespace stepcast::search
