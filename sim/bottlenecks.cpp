// The rates of FlowNetwork in large components: routes kept with their bottlenecks, and the repair of the levels after
// starts and ends.
//
// A bottleneck is a full resource, or a limit, that decides the rates of its members: each gets its level times the
// member's weight. The level of a resource is (capacity - taken) / demand: `taken` is what goes to routes whose
// bottleneck is another, `demand` the sum of its members' load * weight * flows. The rates are max-min fair exactly
// when every member's bottleneck has the lowest level of all that the member crosses, and no resource without members
// carries more than it can (each flow then has a full resource on which nobody gets more per weight).
//
// The repair makes that so again. Bottlenecks stand in an order, and a route's bottleneck is always the first in it of
// all that the route crosses: the condition holds where the order is that of the levels. The repair goes through the
// order, from the first that a start or an end has changed. It computes each level anew; where the order of two is no
// longer that of their levels, they change places, and the routes that cross both change their bottleneck. A new level
// changes what is taken on all that the members cross, all of it higher in the order. Whatever it went through, where
// the repair ends the condition above holds; and the rates that it asks for are unique. It is given a number of steps;
// where those do not do, the component is filled from nothing.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/flow_network.h"

namespace stepcast::sim {
template <class Visit>
void FlowNetwork::each_bottleneck(std::uint32_t route, Visit visit) {
  for (const Use& use : uses(route)) visit(index(use.resource), use.load);
  if (limiter(route) != kNone) visit(limiter(route), 0.0);
}

void FlowNetwork::advance(Bottleneck& bottleneck, Time now) {
  bottleneck.moved += bottleneck.level * to_seconds(now - bottleneck.since);
  bottleneck.since = now;
  bottleneck.due_stale = true;
}

/// The level that follows from what is taken and asked for now. Requires members, of a resource.
double FlowNetwork::level_now(std::uint32_t id) const {
  const Bottleneck& bottleneck = bottlenecks_[id];
  if (id >= resources_.size()) return bottleneck.level;
  return std::max(resources_[id].capacity - pressure_[id].taken, 0.0) / bottleneck.demand;
}

/// The level of this bottleneck must be computed anew.
void FlowNetwork::mark(std::uint32_t id) {
  Pressure& pressure = pressure_[id];
  lowest_changed_ = std::min(lowest_changed_, pressure.position);
  if (pressure.changed) return;
  pressure.changed = true;
  changed_.push_back(id);
  if (pressure.position != kNone) look_at(pressure.position);
}

/// The first position from this one on that needs a look; the order's end, or behind it, if there is none.
std::uint32_t FlowNetwork::next_to_look_at(std::uint32_t position) const {
  const auto end = static_cast<std::uint32_t>(order_.size());
  if (position >= end) return end;
  std::size_t word = position / 64;
  std::uint64_t bits = look_[word] >> (position % 64) << (position % 64);
  while (bits == 0) {
    if (++word >= look_.size()) return end;
    bits = look_[word];
  }
  return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
}

/// Makes the route a member. What it takes elsewhere is the caller's to add.
void FlowNetwork::attach(std::uint32_t route, std::uint32_t id, Time now) {
  Bottleneck& bottleneck = bottlenecks_[id];
  State& state = states_[route];
  if (bottleneck.members.empty()) {
    bottleneck.demand = bottleneck.moved = 0;
    bottleneck.since = now;
    bottleneck.first_end = kInfinity;
    if (pressure_[id].position == kNone) put_last(id);
  }
  advance(bottleneck, now);
  state.bottleneck = id;
  state.anchor = bottleneck.moved;
  const double per_load = state.counted * weight(route);
  double demand = 0;
  std::uint32_t shares = 0;
  each_bottleneck(route, [&](std::uint32_t where, double load) {
    if (where == id) {
      demand = load * per_load;
    } else {
      bottleneck.shares.demand.push_back(demands_.place_of(load * per_load));
      bottleneck.shares.where.push_back(where);
      ++shares;
    }
  });
  const double end = end_of_head(route);
  bottleneck.members.push_back({end, demand, route, shares});
  bottleneck.demand += demand;
  bottleneck.first_end = std::min(bottleneck.first_end, end);
}

/// Puts the bottleneck at the end of the order.
void FlowNetwork::put_last(std::uint32_t id) {
  pressure_[id].position = static_cast<std::uint32_t>(order_.size());
  order_.push_back(id);
  look_.resize(order_.size() / 64 + 1);
  look_at(pressure_[id].position);
}

void FlowNetwork::erase_from_order(std::uint32_t id) {
  const std::uint32_t position = std::exchange(pressure_[id].position, kNone);
  order_.erase(order_.begin() + position);
  for (std::size_t p = position; p < order_.size(); ++p) pressure_[order_[p]].position = static_cast<std::uint32_t>(p);
  if (lowest_changed_ != kNone && lowest_changed_ > position) --lowest_changed_;
  std::size_t word = position / 64;
  const std::uint64_t above = look_[word] >> (position % 64) >> 1 << (position % 64);
  look_[word] = (look_[word] & ((std::uint64_t{1} << (position % 64)) - 1)) | above;
  for (; word + 1 < look_.size(); ++word) {
    look_[word] |= look_[word + 1] << 63;
    look_[word + 1] >>= 1;
  }
  look_at(position);
}

/// Swaps the bottleneck at this position with the one before.
void FlowNetwork::swap_in_order(std::uint32_t position) {
  std::swap(order_[position], order_[position - 1]);
  std::swap(pressure_[order_[position]].position, pressure_[order_[position - 1]].position);
  look_at(position - 1);
  look_at(position);
  look_at(position + 1);
}

/// Takes those out that are members no more, and the bottleneck out of the order if none is left.
void FlowNetwork::drop_leavers(std::uint32_t id) {
  Bottleneck& bottleneck = bottlenecks_[id];
  Shares& shares = bottleneck.shares;
  std::size_t stay = 0, to = 0, from = 0;
  for (std::size_t m = 0; m < bottleneck.members.size(); ++m) {
    const Member& member = bottleneck.members[m];
    const std::size_t behind = from + member.shares;
    if (states_[member.route].bottleneck == id) {
      if (stay == m) {  // nobody has left so far
        ++stay;
        to = behind;
      } else {
        bottleneck.members[stay++] = member;
        for (std::size_t share = from; share < behind; ++share, ++to) {
          shares.demand[to] = shares.demand[share];
          shares.where[to] = shares.where[share];
        }
      }
    }
    from = behind;
  }
  bottleneck.members.resize(stay);
  shares.demand.resize(to);
  shares.where.resize(to);
  bottleneck.demand = 0;
  bottleneck.first_end = kInfinity;
  for (const Member& member : bottleneck.members) {
    bottleneck.demand += member.demand;
    bottleneck.first_end = std::min(bottleneck.first_end, member.end);
  }
  bottleneck.due_stale = true;
  if (!bottleneck.members.empty()) return;
  set_due(id, kForever);
  if (id >= resources_.size()) return;
  bottleneck.level = 0;
  erase_from_order(id);
}

/// The members of `from` that cross `to` become members of that. False if there are none.
bool FlowNetwork::take(std::uint32_t from, std::uint32_t to, Time now) {
  moving_.clear();
  const auto& where = bottlenecks_[from].shares.where;
  auto member = bottlenecks_[from].members.cbegin();
  auto behind = where.cbegin() + (where.empty() ? 0 : member->shares);  // the shares of this member
  for (auto at = std::find(where.cbegin(), where.cend(), to); at != where.cend();
       at = std::find(at + 1, where.cend(), to)) {
    while (at >= behind) behind += (++member)->shares;
    moving_.push_back(member->route);
  }
  if (moving_.empty()) return false;
  advance(bottlenecks_[from], now);
  advance(bottlenecks_[to], now);
  const double was = bottlenecks_[from].level, is = bottlenecks_[to].level;
  for (const std::uint32_t route : moving_) {
    advance(route, now);
    attach(route, to, now);
    const double per_load = states_[route].counted * weight(route);
    each_bottleneck(route, [&](std::uint32_t crossed, double load) {
      const double demand = load * per_load;
      pressure_[crossed].taken += crossed == to ? -was * demand : crossed == from ? is * demand : (is - was) * demand;
      mark(crossed);
    });
  }
  drop_leavers(from);
  return true;
}

/// Begins to keep a route that has flows: as a member of the first in the order that it crosses.
void FlowNetwork::enter(std::uint32_t route, Time now) {
  State& state = states_[route];
  state.counted = state.flows;
  std::uint32_t first = kNone, roomiest = kNone;
  double most_room = -kInfinity;
  each_bottleneck(route, [&](std::uint32_t where, double load) {
    if (where >= resources_.size()) {
      if (pressure_[where].position == kNone) put_last(where);
    } else {
      ++resources_[where].kept;
      const double room = (resources_[where].capacity - pressure_[where].taken) / load;
      if (std::exchange(most_room, std::max(most_room, room)) < room) roomiest = where;
    }
    first = std::min(first, pressure_[where].position);
  });
  const std::uint32_t bottleneck = first != kNone ? order_[first] : roomiest;
  attach(route, bottleneck, now);
  const double given = bottlenecks_[bottleneck].level * state.counted * weight(route);
  each_bottleneck(route, [&](std::uint32_t where, double load) {
    if (where != bottleneck) pressure_[where].taken += given * load;
    mark(where);
  });
  ++kept_;
}

/// Ends to keep a route. Its bottleneck, which is returned, must drop its leavers.
std::uint32_t FlowNetwork::leave(std::uint32_t route) {
  State& state = states_[route];
  const std::uint32_t bottleneck = state.bottleneck;
  const double given = bottlenecks_[bottleneck].level * state.counted * weight(route);
  each_bottleneck(route, [&](std::uint32_t where, double load) {
    mark(where);
    if (where != bottleneck) pressure_[where].taken -= given * load;
    if (where < resources_.size() && --resources_[where].kept == 0) pressure_[where].taken = 0;
  });
  release(route);
  state.bottleneck = kNone;
  --kept_;
  return bottleneck;
}

/// A kept route goes on by itself at the rate that it has.
void FlowNetwork::release(std::uint32_t route) {
  State& state = states_[route];
  const double rate = state.flows == 0 ? 0 : rate_of(route);
  state.counted = 0;
  state.rate = rate;
}

/// Lets the bottleneck at this position go down in the order to where its level belongs, and gives it the members of
/// those it passes that cross it. Returns its position.
std::uint32_t FlowNetwork::descend(std::uint32_t position, Time now) {
  const std::uint32_t id = order_[position];
  double here = level_now(id);
  while (position > 0) {
    const std::uint32_t before = order_[position - 1];
    if (bottlenecks_[before].level <= here * (1 + kSameRate)) break;
    if (take(before, id, now)) {
      here = level_now(id);
      position = pressure_[id].position;
    }
    if (position > 0 && order_[position - 1] == before) swap_in_order(position--);
  }
  return position;
}

/// If the bottleneck at this position rises above the next one, they change places before its level is applied.
void FlowNetwork::overtake(std::uint32_t position, Time now) {
  if (position + 1 >= order_.size()) return;
  const std::uint32_t id = order_[position], next = order_[position + 1];
  const double after = pressure_[next].changed ? level_now(next) : bottlenecks_[next].level;
  const double here = level_now(id);
  if (after >= here * (1 - kSameRate)) return;
  if (position > 0 && bottlenecks_[order_[position - 1]].level > here) return;
  if (take(id, next, now) && pressure_[id].position == kNone) return;
  mark(id);
  swap_in_order(position + 1);
}

/// Gives the members of the bottleneck at this position the level that it has now.
void FlowNetwork::apply_level(std::uint32_t position, Time now) {
  const std::uint32_t id = order_[position];
  Bottleneck& bottleneck = bottlenecks_[id];
  pressure_[id].changed = false;
  if (id >= resources_.size()) return;  // a limit stays what it is
  double level = level_now(id);
  if (position > 0) {  // levels a rounding apart are one
    const double before = bottlenecks_[order_[position - 1]].level;
    if (std::abs(level - before) <= kSameRate * level) level = before;
  }
  const double more = level - bottleneck.level;
  if (std::abs(more) <= kSameRate * bottleneck.level) return;
  advance(bottleneck, now);
  bottleneck.level = level;
  look_at(position + 1);
  std::uint32_t lowest = lowest_changed_;
  const double* demands = demands_.all();
  for (std::size_t share = 0; share < bottleneck.shares.where.size(); ++share) {
    const std::uint32_t where = bottleneck.shares.where[share];
    Pressure& there = pressure_[where];
    there.taken += more * demands[bottleneck.shares.demand[share]];
    lowest = std::min(lowest, there.position);
    if (there.changed) continue;
    there.changed = true;
    changed_.push_back(where);
    if (there.position != kNone) look_at(there.position);
  }
  lowest_changed_ = lowest;
}

/// A resource without members that carries more than it can, or kNone.
std::uint32_t FlowNetwork::overfull() {
  for (const std::uint32_t id : changed_) {
    if (id >= resources_.size() || !pressure_[id].changed || !bottlenecks_[id].members.empty()) continue;
    if (pressure_[id].taken > resources_[id].capacity * (1 + kSameRate)) return id;
  }
  return kNone;
}

/// Puts a resource without members that carries too much in the order, before the last that gives to routes which cross
/// it, and makes those its members. Its level is less than what they had.
void FlowNetwork::enter_before_the_last_it_meets(std::uint32_t id, Time now) {
  auto place = static_cast<std::uint32_t>(order_.size());
  while (place > 0 && bottlenecks_[id].members.empty()) take(order_[--place], id, now);
  for (std::uint32_t p = pressure_[id].position; p > place; --p) swap_in_order(p);
  mark(id);
}

/// Makes the levels those of max-min fairness after changes. False if that took too many steps.
bool FlowNetwork::repair(Time now) {
  std::size_t steps = 256 + 32 * order_.size();
  std::uint32_t position = std::exchange(lowest_changed_, kNone);
  for (;; --steps) {
    if (steps == 0) return false;
    position = next_to_look_at(position);
    if (position >= order_.size()) {
      const std::uint32_t id = overfull();
      if (id == kNone) break;
      enter_before_the_last_it_meets(id, now);
      position = std::exchange(lowest_changed_, kNone);
      continue;
    }
    const std::uint32_t id = order_[position];
    look_[position / 64] &= ~(std::uint64_t{1} << (position % 64));
    if (!pressure_[id].changed &&
        (position == 0 || bottlenecks_[order_[position - 1]].level <= bottlenecks_[id].level * (1 + kSameRate))) {
      ++position;
      ++steps;
    } else {
      overtake(position, now);
      position = descend(position, now);
      apply_level(position, now);
      ++position;
    }
    position = std::min(position, std::exchange(lowest_changed_, kNone));
  }
  return true;
}

/// What is taken of each resource, added up anew, and what members have moved, counted anew from 0.
void FlowNetwork::add_up_taken(Time now) {
  for (const std::uint32_t id : order_) {
    pressure_[id].taken = 0;
    for (const std::uint32_t where : bottlenecks_[id].shares.where) pressure_[where].taken = 0;
  }
  for (const std::uint32_t id : order_) {
    Bottleneck& bottleneck = bottlenecks_[id];
    for (std::size_t share = 0; share < bottleneck.shares.where.size(); ++share) {
      const std::uint32_t where = bottleneck.shares.where[share];
      pressure_[where].taken += bottleneck.level * demands_.all()[bottleneck.shares.demand[share]];
      mark(where);
    }
    advance(bottleneck, now);
    bottleneck.first_end = kInfinity;
    for (Member& member : bottleneck.members) {
      states_[member.route].anchor -= bottleneck.moved;
      member.end = end_of_head(member.route);
      bottleneck.first_end = std::min(bottleneck.first_end, member.end);
    }
    bottleneck.moved = 0;
    mark(id);
  }
}

/// Keeps the routes of the component solved last with their bottlenecks.
void FlowNetwork::keep_component(Time now) {
  for (const std::uint32_t id : component_resources_) pressure_[id].taken = 0;
  const std::size_t before = order_.size();
  for (const std::uint32_t route : component_) {
    const std::uint32_t bottleneck = states_[route].bottleneck, limited = limiter(route);
    if (pressure_[bottleneck].position == kNone) put_last(bottleneck);
    if (limited != kNone && pressure_[limited].position == kNone) put_last(limited);
    if (bottleneck < resources_.size()) bottlenecks_[bottleneck].level = resources_[bottleneck].lambda;
  }
  order_by_level(before);
  std::vector<std::uint32_t> members(bottlenecks_.size()), shares(bottlenecks_.size());
  for (const std::uint32_t route : component_) {
    // Of bottlenecks with one level, the solve may have found another than the first in the order.
    std::uint32_t first = kNone, crossed = 0;
    each_bottleneck(route, [&](std::uint32_t where, double) {
      first = std::min(first, pressure_[where].position);
      ++crossed;
    });
    states_[route].bottleneck = order_[first];
    ++members[order_[first]];
    shares[order_[first]] += crossed - 1;
  }
  for (const std::uint32_t id : order_) {
    bottlenecks_[id].members.reserve(bottlenecks_[id].members.size() + members[id]);
    bottlenecks_[id].shares.demand.reserve(bottlenecks_[id].shares.demand.size() + shares[id]);
    bottlenecks_[id].shares.where.reserve(bottlenecks_[id].shares.where.size() + shares[id]);
  }
  for (const std::uint32_t route : component_) {
    const std::uint32_t bottleneck = states_[route].bottleneck;
    advance(route, now);
    states_[route].counted = states_[route].flows;
    attach(route, bottleneck, now);
    ++kept_;
    const double given = bottlenecks_[bottleneck].level * states_[route].counted * weight(route);
    for (const Use& use : uses(route)) {
      const std::uint32_t where = index(use.resource);
      ++resources_[where].kept;
      if (where != bottleneck) pressure_[where].taken += given * use.load;
    }
  }
  std::erase_if(order_, [&](std::uint32_t id) {
    if (id >= resources_.size() || !bottlenecks_[id].members.empty()) return false;
    bottlenecks_[id].level = 0;
    pressure_[id].position = kNone;
    return true;
  });
  number_order();
  changed_.insert(changed_.end(), order_.begin(), order_.end());
  empty(component_);
}

/// Puts the bottlenecks from the first new one on where their levels belong. Those before keep their order: levels a
/// rounding apart may stand in any, but not change places where routes cross both.
void FlowNetwork::order_by_level(std::size_t first_new) {
  const auto level = [&](std::uint32_t id) { return bottlenecks_[id].level; };
  const std::vector<std::uint32_t> old(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(first_new));
  std::vector<std::uint32_t> added(order_.begin() + static_cast<std::ptrdiff_t>(first_new), order_.end());
  std::ranges::sort(added, {}, [&](std::uint32_t id) { return std::pair(level(id), id); });
  std::size_t next_old = 0, next_added = 0;
  for (std::uint32_t& id : order_) {
    const bool from_old =
        next_added == added.size() || (next_old < old.size() && level(old[next_old]) <= level(added[next_added]));
    id = from_old ? old[next_old++] : added[next_added++];
  }
  number_order();
}

void FlowNetwork::number_order() {
  for (std::uint32_t p = 0; p < order_.size(); ++p) pressure_[order_[p]].position = p;
  look_.assign(order_.size() / 64 + 1, ~std::uint64_t{0});
}

}  // namespace stepcast::sim
