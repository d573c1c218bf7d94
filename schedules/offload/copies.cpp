#include "schedules/offload/copies.h"

#include <algorithm>
#include <map>

#include "sim/input_error.h"
#include "sim/long_time.h"
#include "topology/host_path.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// What this rank has of a block's parameters where they lie: its shard with ZeRO 3.
double own_parameters(const Scenario& s, const Block& block) {
  return block.parameters / (s.data_parallel.zero >= 3 ? shard_ranks(s) : 1);
}

PassTime with_copies(const Scenario& s, const PassTime& alone, Time in, Time out) {
  // Slowed for as long as the longer way takes, or as compute itself does.
  const double slowdown = s.host_link.slowdown;
  const Time longer = std::max(in, out);
  const Time slower =
      from_seconds(slowdown * std::min(to_seconds(alone.duration), to_seconds(longer) / (1 + slowdown)));
  const Time whole = s.offload.overlap ? std::max(alone.duration + slower, longer) : alone.duration + in + out;
  PassTime pass = alone;
  pass.duration = whole;
  pass.exposed_copy = whole - alone.duration;
  return pass;
}

}  // namespace

HostCopies::Way HostCopies::way(const topology::Cluster& cluster, bool to_host, const HostLink::Copy& measured) {
  std::map<std::uint32_t, double> sharers;
  std::vector<topology::Path> paths;
  for (std::uint32_t gpu = 0; gpu < std::min(cluster.gpus(), cluster.gpus_per_node()); ++gpu) {
    const auto path = topology::host_path(cluster, topology::GpuId{gpu}, topology::ToHost{to_host});
    if (!path) throw InputError("offload", "no PCIe path from " + cluster.name(topology::GpuId{gpu}) + " to a CPU");
    for (const topology::LinkId link : path->links) ++sharers[topology::index(link)];
    paths.push_back(*path);
  }
  Way slowest;
  for (const topology::Path& path : paths) {
    slowest.latency = std::max(slowest.latency, path.latency);
    for (const topology::LinkId link : path.links)
      slowest.seconds_a_byte =
          std::max(slowest.seconds_a_byte, sharers[topology::index(link)] / cluster.link_bandwidth(link).value);
  }
  if (measured.latency) slowest.latency = *measured.latency;
  if (measured.bandwidth) slowest.seconds_a_byte = std::max(slowest.seconds_a_byte, 1 / measured.bandwidth->value);
  return slowest;
}

HostCopies::HostCopies(const Scenario& s, const topology::Cluster& cluster)
    : gpus_(std::min(cluster.gpus(), cluster.gpus_per_node())) {
  const HostLink& link = s.host_link;
  const auto measured = [&](const HostLink::Copy& one_way) {
    return HostLink::Copy{s.offload.overlap && link.both.latency ? link.both.latency : one_way.latency,
                          s.offload.overlap && link.both.bandwidth ? link.both.bandwidth : one_way.bandwidth};
  };
  out_ = way(cluster, true, measured(link.to_host));
  back_ = way(cluster, false, measured(link.to_gpu));
  if (s.offload.nvme_bandwidth) drive_seconds_a_byte_ = gpus_ / s.offload.nvme_bandwidth->value;
}

Time HostCopies::time(const Way& way, double bytes, Tier tier) const {
  if (bytes == 0 || tier == Tier::gpu) return {};
  const double seconds_a_byte = std::max(way.seconds_a_byte, tier == Tier::nvme ? drive_seconds_a_byte_ : 0);
  return way.latency +
         from_seconds(bytes * seconds_a_byte,
                      seconds_a_byte > way.seconds_a_byte
                          ? "a copy between a GPU and the drives takes more than 106 days at offload.nvme_bandwidth"
                          : "a copy between a GPU and its host takes more than 106 days at the bandwidth of the links");
}

Time HostCopies::to_host(double bytes, Tier tier) const { return time(out_, bytes, tier); }
Time HostCopies::from_host(double bytes, Tier tier) const { return time(back_, bytes, tier); }

PassTime forward_with_copies(const Scenario& s, const Block& block, const PassTime& alone, const HostCopies& copies) {
  const double parameters = own_parameters(s, block) * d(element_bytes(s.training.precision));
  return with_copies(s, alone, copies.from_host(parameters, s.offload.parameters),
                     copies.to_host(block.saved * offloaded_activations(s), s.offload.activations));
}

PassTime backward_with_copies(const Scenario& s, const Block& block, const PassTime& alone, const HostCopies& copies) {
  if (block.frozen) return alone;
  const double element = d(element_bytes(s.training.precision)), parameters = own_parameters(s, block) * element;
  // With ZeRO 2 and 3 a rank's share of the gradients leaves after every micro-batch, else after the last (the update).
  const double gradients = s.data_parallel.zero >= 2 ? block.parameters / shard_ranks(s) * element : 0;
  return with_copies(s, alone,
                     copies.from_host(parameters, s.offload.parameters) +
                         copies.from_host(block.saved * offloaded_activations(s), s.offload.activations),
                     copies.to_host(gradients, s.offload.optimizer == Tier::gpu ? Tier::gpu : Tier::host));
}

Time update_on_host(const Scenario& s, double parameters, const HostCopies& copies) {
  const double element = d(element_bytes(s.training.precision));
  const Time update = from_seconds(parameters * copies.gpus() / s.offload.adam_rate,
                                   "the host's update takes more than 106 days at offload.adam_rate");
  constexpr double kState = 12;  // bytes: fp32 parameter and both moments, read and written
  const Time state = s.offload.optimizer == Tier::nvme
                         ? from_seconds(2 * kState * parameters * copies.gpus() / s.offload.nvme_bandwidth->value,
                                        "the host's update takes more than 106 days at offload.nvme_bandwidth")
                         : Time{};
  const Time gradients = s.data_parallel.zero >= 2 ? Time{} : copies.to_host(parameters * element, Tier::host);
  const Time back = s.offload.parameters == Tier::gpu ? copies.from_host(parameters * element, Tier::host) : Time{};
  if (s.offload.overlap) return std::max({update, state, gradients, back});
  return update + state + gradients + back;
}

}  // namespace stepcast::schedules
