#include "schedules/offload/copies.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "schedules/data_parallel/groups.h"
#include "sim/long_time.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// What this rank has of a block's parameters where they lie: its shard with ZeRO 3.
double own_parameters(const Scenario& s, const Block& block) { return sharded_from(3, s, stored_held(s, block), 1); }

HostTraffic from_host(double bytes, Tier tier) { return {topology::ToHost::no, bytes, tier}; }
HostTraffic to_host(double bytes, Tier tier) { return {topology::ToHost::yes, bytes, tier}; }

/// What goes one way, without what stays where it is.
using OneWay = std::vector<HostTraffic>;
OneWay one_way(std::initializer_list<HostTraffic> all) {
  OneWay out;
  for (const HostTraffic& each : all)
    if (each.bytes > 0 && each.tier != Tier::gpu) out.push_back(each);
  return out;
}

OneWay joined(OneWay a, const OneWay& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Those that nothing runs beside.
std::optional<PassPart> apart(const OneWay& copies, Time alone) {
  if (copies.empty()) return std::nullopt;
  return PassPart{.alone = alone, .copies = copies, .awaits_copies = true};
}

Time time_of(const OneWay& way, const HostCopies& copies) {
  Time sum{};
  for (const HostTraffic& each : way) sum = sum + copies.time(each);
  return sum;
}

PassTime with_copies(const Scenario& s, const PassTime& alone, const OneWay& in, const OneWay& out,
                     const HostCopies& copies, CopyParts* parts) {
  // Slowed for as long as the longer way takes, or as compute itself does.
  const double slowdown = s.host_link.slowdown;
  const Time comes = time_of(in, copies), leaves = time_of(out, copies), longer = std::max(comes, leaves);
  const Time slower =
      from_seconds(slowdown * std::min(to_seconds(alone.duration), to_seconds(longer) / (1 + slowdown)));
  const Time whole = s.offload.overlap ? std::max(alone.duration + slower, longer) : alone.duration + comes + leaves;
  PassTime pass = alone;
  pass.duration = whole;
  pass.exposed_copy = whole - alone.duration;
  if (s.offload.overlap) {
    pass.copies_in = comes;
    pass.copies_out = leaves;
    if (pass.exposed_copy > Time{}) pass.hides_copies = alone.duration;
  }
  if (parts == nullptr || (in.empty() && out.empty())) return pass;
  if (s.offload.overlap)
    *parts = {PassPart{.copies = joined(in, out)},
              PassPart{.kernels = slower, .alone = pass.exposed_copy, .awaits_copies = true}};
  else
    *parts = {apart(in, comes), apart(out, leaves)};
  return pass;
}

/// The update of parameters by the node's CPUs.
struct Update {
  Time parameters{}, state{};  ///< by the CPUs; of the drives
  OneWay gradients, values;    ///< to the host, and back
};

Update update_of(const Scenario& s, double parameters, const HostCopies& copies) {
  const double element = d(element_bytes(s.training.precision));
  Update update;
  update.parameters = from_seconds(parameters * copies.gpus() / s.offload.adam_rate,
                                   "the host's update takes more than 106 days at offload.adam_rate");
  constexpr double kState = 12;  // bytes: fp32 parameter and both moments, read and written
  if (s.offload.optimizer == Tier::nvme)
    update.state = from_seconds(2 * kState * parameters * copies.gpus() / s.offload.nvme_bandwidth->value,
                                "the host's update takes more than 106 days at offload.nvme_bandwidth");
  if (s.data_parallel.zero < 2) update.gradients = one_way({to_host(parameters * kHostGradientBytes, Tier::host)});
  if (s.offload.parameters == Tier::gpu) update.values = one_way({from_host(parameters * element, Tier::host)});
  return update;
}

}  // namespace

HostCopies::HostWay HostCopies::way(const topology::Cluster& cluster, topology::ToHost direction,
                                    const HostLink::Copy& measured) {
  workload::HostWays ways(cluster);
  workload::HostCopy all{.direction = direction, .bytes = {}, .gpus = {}, .latency = measured.latency};
  if (measured.bandwidth) all.at_most = *measured.bandwidth;
  for (std::uint32_t gpu = 0; gpu < std::min(cluster.gpus(), cluster.gpus_per_node()); ++gpu)
    all.gpus.push_back(topology::GpuId{gpu});
  const workload::CopiesAtOnce slowest = at_once(all, cluster, ways);
  return {slowest.latency, slowest.seconds_a_byte, measured};
}

HostCopies::HostCopies(const Scenario& s, const topology::Cluster& cluster)
    : gpus_(std::min(cluster.gpus(), cluster.gpus_per_node())) {
  const HostLink& link = s.host_link;
  const auto measured = [&](const HostLink::Copy& one_way) {
    return HostLink::Copy{s.offload.overlap && link.both.latency ? link.both.latency : one_way.latency,
                          s.offload.overlap && link.both.bandwidth ? link.both.bandwidth : one_way.bandwidth};
  };
  out_ = way(cluster, topology::ToHost::yes, measured(link.to_host));
  back_ = way(cluster, topology::ToHost::no, measured(link.to_gpu));
  if (s.offload.nvme_bandwidth) drive_seconds_a_byte_ = gpus_ / s.offload.nvme_bandwidth->value;
}

Time HostCopies::time(const HostWay& way, double bytes, Tier tier) const {
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

Time HostCopies::time(const HostTraffic& traffic) const {
  return time(traffic.direction == topology::ToHost::yes ? out_ : back_, traffic.bytes, traffic.tier);
}

workload::HostCopy HostCopies::copy(const HostTraffic& traffic, collectives::Group gpus) const {
  const HostLink::Copy& measured = (traffic.direction == topology::ToHost::yes ? out_ : back_).measured;
  workload::HostCopy copy{.direction = traffic.direction,
                          .bytes = whole_bytes(traffic.bytes),
                          .gpus = std::move(gpus),
                          .latency = measured.latency};
  if (measured.bandwidth) copy.at_most = *measured.bandwidth;
  if (traffic.tier == Tier::nvme) copy.at_most = std::min(copy.at_most, Bandwidth{1 / drive_seconds_a_byte_});
  return copy;
}

PassTime forward_with_copies(const Scenario& s, const Block& block, const PassTime& alone, const HostCopies& copies,
                             CopyParts* parts) {
  const double parameters = own_parameters(s, block) * d(element_bytes(s.training.precision));
  return with_copies(s, alone, one_way({from_host(parameters, s.offload.parameters)}),
                     one_way({to_host(block.saved * offloaded_activations(s), s.offload.activations)}), copies, parts);
}

PassTime backward_with_copies(const Scenario& s, const Block& block, const PassTime& alone, const HostCopies& copies,
                              CopyParts* parts) {
  if (block.frozen) return alone;
  const double element = d(element_bytes(s.training.precision)), parameters = own_parameters(s, block) * element;
  // With ZeRO 2 and 3 a rank's share of the gradients leaves after every micro-batch, else after the last (the update).
  const double gradients = s.data_parallel.zero >= 2 ? sharded(s, trained_held(block), 1) * kHostGradientBytes : 0;
  return with_copies(s, alone,
                     one_way({from_host(parameters, s.offload.parameters),
                              from_host(block.saved * offloaded_activations(s), s.offload.activations)}),
                     one_way({to_host(gradients, s.offload.optimizer == Tier::gpu ? Tier::gpu : Tier::host)}), copies,
                     parts);
}

Time update_on_host(const Scenario& s, double parameters, const HostCopies& copies) {
  const Update update = update_of(s, parameters, copies);
  const Time gradients = time_of(update.gradients, copies), values = time_of(update.values, copies);
  if (s.offload.overlap) return std::max({update.parameters, update.state, gradients, values});
  return update.parameters + update.state + gradients + values;
}

PassParts parts_of_update_on_host(const Scenario& s, double parameters, const HostCopies& copies) {
  const Update update = update_of(s, parameters, copies);
  PassParts parts;
  if (s.offload.overlap) {
    const Time longer = std::max(update.parameters, update.state);
    parts.push_back({.copies = joined(update.gradients, update.values)});
    parts.push_back({.kernels = longer});
    parts.push_back({.alone = update_on_host(s, parameters, copies) - longer, .awaits_copies = true});
    return parts;
  }
  if (const auto gradients = apart(update.gradients, time_of(update.gradients, copies))) parts.push_back(*gradients);
  parts.push_back({.kernels = update.parameters + update.state});
  if (const auto values = apart(update.values, time_of(update.values, copies))) parts.push_back(*values);
  return parts;
}

}  // namespace stepcast::schedules
