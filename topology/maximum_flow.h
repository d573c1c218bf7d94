#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "sim/units.h"

namespace stepcast::topology {

/// A maximum flow over links between numbered places. Capacities are in whole bytes per second: exact sums.
class MaximumFlow {
 public:
  explicit MaximumFlow(std::size_t places) : graph_(places) {}
  void add(std::size_t from, std::size_t to, double bytes_per_second) {
    const auto capacity = boost::get(boost::edge_capacity, graph_);
    const auto reverse = boost::get(boost::edge_reverse, graph_);
    const auto there = boost::add_edge(from, to, graph_).first, back = boost::add_edge(to, from, graph_).first;
    capacity[there] = std::llround(bytes_per_second);
    capacity[back] = 0;
    reverse[there] = back;
    reverse[back] = there;
  }
  Bandwidth run(std::size_t source, std::size_t sink) {
    return {static_cast<double>(boost::push_relabel_max_flow(graph_, source, sink))};
  }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using FlowGraph = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<boost::edge_capacity_t, std::int64_t,
                      boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                      boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
  FlowGraph graph_;
};

}  // namespace stepcast::topology
