#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/flow_network.h"

namespace stepcast::sim {

struct Start {
  RouteId route{};
  Bytes bytes{};
};
using Starts = std::map<Time, std::vector<Start>>;

/// A graph of resources and routes alone: what a network is made over.
inline TaskGraph graph_of(const std::vector<Bandwidth>& resources, const std::vector<Route>& routes) {
  TaskGraph graph;
  for (const Bandwidth capacity : resources) graph.add_resource(capacity);
  for (const Route& route : routes) graph.add_route(route);
  return graph;
}

/// Calls the network as the executor does; `look(now, until)` is called after each instant with the time of the next.
/// Returns when each flow ended, by the order of the starts.
template <class Look>
std::vector<Time> drive(FlowNetwork& network, Starts starts, const Look& look) {
  std::multimap<Time, RouteId> calls;
  std::vector<Time> end;
  std::vector<std::uint32_t> ended;
  while (!starts.empty() || !calls.empty()) {
    Time now = starts.empty() ? calls.begin()->first : starts.begin()->first;
    if (!calls.empty()) now = std::min(now, calls.begin()->first);
    while (!calls.empty() && calls.begin()->first == now) {
      const RouteId route = calls.begin()->second;
      calls.erase(calls.begin());
      if (const auto again = network.expire(route, now, ended)) calls.emplace(*again, route);
    }
    for (const std::uint32_t flow : ended) end[flow] = now;
    ended.clear();
    if (!starts.empty() && starts.begin()->first == now) {
      for (const Start& start : starts.begin()->second) {
        network.start(static_cast<std::uint32_t>(end.size()), start.route, start.bytes);
        end.push_back(Time{-1});
      }
      starts.erase(starts.begin());
    }
    for (const RouteId route : network.settle(now)) {
      EXPECT_GT(network.wake(route), now);
      calls.emplace(network.wake(route), route);
    }
    Time until = starts.empty() ? now : starts.begin()->first;
    if (!calls.empty()) until = starts.empty() ? calls.begin()->first : std::min(until, calls.begin()->first);
    look(now, until);
  }
  return end;
}

}  // namespace stepcast::sim
