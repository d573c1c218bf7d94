#include "calibrate/fit/collective_fit.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "calibrate/fit/transport_fit.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using collectives::Operation;

/// "ring/LL" as Timer takes it.
std::string algorithm_of(const CollectiveRow& row) {
  std::string name = row.algorithm == "-" ? "auto" : row.algorithm;
  std::ranges::replace(name, '_', '-');
  return row.protocol == "auto" ? name : name + "/" + row.protocol;
}

}  // namespace

std::vector<Curve> bundle_curves(const Bundle& bundle, const ClusterOf& cluster_of) {
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::vector<std::uint32_t>>;
  std::map<Key, std::map<std::int64_t, std::vector<Time>>> times;
  std::map<Key, std::string> places;
  for (const CollectiveRow& row : bundle.collectives) {
    const Key key{row.collective, algorithm_of(row), row.nodes, row.gpus};
    times[key][row.bytes.value].push_back(row.time.median);
    places.emplace(key, row.place);
  }
  std::map<std::uint32_t, topology::Cluster> clusters;
  std::vector<Curve> curves;
  for (const auto& [key, sizes] : times) {
    const auto& [operation, algorithm, nodes, gpus] = key;
    const auto at = clusters.contains(nodes) ? clusters.find(nodes) : clusters.emplace(nodes, cluster_of(nodes)).first;
    const topology::Cluster& cluster = at->second;
    const std::uint32_t per_node = cluster.gpus() / nodes;
    Curve curve{.name = operation + " " + algorithm + " " + std::to_string(nodes * gpus.size()),
                .operation = *std::ranges::find(collectives::kOperations, operation, collectives::name),
                .cluster = cluster,
                .group = {},
                .gpus_per_process = 1,
                .algorithm = algorithm,
                .points = {}};
    for (std::uint32_t node = 0; node < nodes; ++node) {
      for (const std::uint32_t gpu : gpus) {
        if (gpu >= per_node) {
          throw InputError(places.at(key), "gpus: found GPU " + std::to_string(gpu) + ", but the node given has " +
                                               std::to_string(per_node));
        }
        curve.group.push_back(topology::GpuId{node * per_node + gpu});
      }
    }
    for (const auto& [size, both] : sizes) {
      Time sum{};
      for (const Time time : both) sum += time;
      curve.points.push_back({{size}, {sum.value / static_cast<std::int64_t>(both.size())}});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

FittedModel fit_collectives(const Bundle& bundle, const ClusterOf& cluster_of, const collectives::Transport& start) {
  const std::vector<Curve> curves = bundle_curves(bundle, cluster_of);
  const TransportFit fit = fit_transport(curves, start);
  const std::string block = "software.transport.";
  FittedModel model{"collectives", {}, {}, {}};
  const auto kept = [&](const char* key, ConstantUnit unit, double value) {
    model.constants.push_back({block + key, unit, {block + key, value, value, value, false, "kept as it was"}, true});
  };
  kept("as_nccl_picks", ConstantUnit::flag, fit.transport.as_nccl_picks ? 1 : 0);
  kept("network_of_links", ConstantUnit::flag, fit.transport.network_of_links ? 1 : 0);
  if (fit.transport.host_copy_efficiency < 1)
    kept("host_copy_efficiency", ConstantUnit::number, fit.transport.host_copy_efficiency);
  if (fit.transport.host_staging_bandwidth)
    kept("host_staging_bandwidth", ConstantUnit::bytes_per_second, fit.transport.host_staging_bandwidth->value);
  kept("channels", ConstantUnit::whole, fit.transport.channels);
  kept("chunk", ConstantUnit::bytes, static_cast<double>(fit.transport.chunk.value));
  for (const FittedConstant& c : fit.constants) {
    if (c.why == "the stack does not have this protocol") continue;
    const double unit = c.microseconds ? 1e-6 : 1;
    model.constants.push_back({block + c.name,
                               c.microseconds ? ConstantUnit::seconds : ConstantUnit::number,
                               {block + c.name, c.value * unit, c.low * unit, c.high * unit, c.identified, c.why},
                               true});
  }
  const std::vector<std::vector<Time>> predicted = predict(curves, fit.transport);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t i = 0; i < predicted[c].size(); ++i) {
      const CurvePoint& point = curves[c].points[i];
      model.rows.push_back({"collectives.csv", curves[c].name + " ranks, " + std::to_string(point.size.value) + " B",
                            to_seconds(point.time), to_seconds(predicted[c][i])});
    }
  }
  return model;
}

}  // namespace stepcast::calibrate
