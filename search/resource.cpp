#include "search/resource.h"

#include <array>
#include <cmath>

namespace stepcast::search {
namespace {

using schedules::Gpu;
using schedules::Scenario;
using topology::LinkKind;
using topology::LinkType;
using topology::NodeSpec;

template <class Visit>
void each_gpu(Scenario& s, const Visit& visit) {
  visit(s.cluster.gpu);
  if (s.cluster.other) visit(s.cluster.other->gpu);
}

/// Every type of link that a node is made of.
template <class Visit>
void each_link(NodeSpec& node, const Visit& visit) {
  for (std::optional<LinkType>* link : {&node.nvlink, &node.pcie, &node.socket_link, &node.nic, &node.nic_pcie})
    if (*link) visit(**link);
  for (topology::GraphLink& link : node.links) visit(link.type);
}

/// Links to hosts and between sockets are one resource: a copy through the host crosses both.
bool is_of_host(LinkKind kind) { return kind == LinkKind::pcie || kind == LinkKind::c2c || kind == LinkKind::socket; }

template <class Of>
void link_rates(Scenario& s, ResourceVisitor& visitor, const Of& of) {
  each_link(s.cluster.node, [&](LinkType& link) {
    if (of(link.kind)) visitor.rate(link.bandwidth.value);
  });
}

template <class Of>
void link_latencies(Scenario& s, ResourceVisitor& visitor, const Of& of) {
  each_link(s.cluster.node, [&](LinkType& link) {
    if (of(link.kind)) visitor.time(link.latency);
  });
}

bool is_nvlink(LinkKind kind) { return kind == LinkKind::nvlink; }
bool is_network(LinkKind kind) { return kind == LinkKind::network; }

/// Of the Simple protocol, which is the transport's own, and of the others.
void each_protocol_time(Scenario& s, ResourceVisitor& visitor, Time collectives::Transport::*simple,
                        Time collectives::Protocol::*of_others) {
  collectives::Transport& transport = s.software.transport;
  visitor.time(transport.*simple);
  for (collectives::Protocol* each : {&transport.ll128, &transport.ll, &transport.nvls, &transport.p2p})
    visitor.time(each->*of_others);
}

void gpu_flops(Scenario& s, ResourceVisitor& visitor) {
  each_gpu(s, [&](Gpu& gpu) {
    for (auto& [precision, rate] : gpu.peak) visitor.rate(rate.value);
  });
}

void gpu_memory(Scenario& s, ResourceVisitor& visitor) {
  each_gpu(s, [&](Gpu& gpu) { visitor.rate(gpu.memory_bandwidth.value); });
}

void kernel_start(Scenario& s, ResourceVisitor& visitor) {
  each_gpu(s, [&](Gpu& gpu) { visitor.time(gpu.memory_ramp); });
  visitor.time(s.software.kernel_gap);
  visitor.time(s.software.grouped_multiply_launch);
}

/// Of models that have them.
void scans(Scenario& s, ResourceVisitor& visitor) {
  const auto visit = [&](schedules::Mixer mixer, schedules::ScanRates& rates) {
    if (layers_with(s.model, mixer) == 0) return;
    visitor.rate(rates.forward.value);
    visitor.rate(rates.backward.value);
    if (mixer == schedules::Mixer::delta_net) visitor.time(s.software.scan_step);
  };
  visit(schedules::Mixer::mamba, s.software.mamba_rates);
  visit(schedules::Mixer::delta_net, s.software.delta_net_rates);
}

void host(Scenario& s, ResourceVisitor& visitor) {
  schedules::Software& software = s.software;
  if (software.host_per_collective) visitor.time(*software.host_per_collective);
  for (const auto each : schedules::kHostTimes) visitor.time(software.*each);
  for (Time* each : {&software.host_per_expert_layer, &software.activation_hold, &software.gradient_hold})
    visitor.time(*each);
}

void nvlink(Scenario& s, ResourceVisitor& visitor) { link_rates(s, visitor, is_nvlink); }

void nvlink_latency(Scenario& s, ResourceVisitor& visitor) {
  link_latencies(s, visitor, is_nvlink);
  each_protocol_time(s, visitor, &collectives::Transport::nvlink_step, &collectives::Protocol::nvlink_step);
}

void pcie(Scenario& s, ResourceVisitor& visitor) {
  if (s.software.transport.host_staging_bandwidth) visitor.rate(s.software.transport.host_staging_bandwidth->value);
  link_rates(s, visitor, is_of_host);
  for (schedules::HostLink::Copy* copy : {&s.host_link.to_gpu, &s.host_link.to_host, &s.host_link.both})
    if (copy->bandwidth) visitor.rate(copy->bandwidth->value);
  if (s.checkpoint.snapshot_bandwidth) visitor.rate(s.checkpoint.snapshot_bandwidth->value);
}

void pcie_latency(Scenario& s, ResourceVisitor& visitor) {
  link_latencies(s, visitor, is_of_host);
  each_protocol_time(s, visitor, &collectives::Transport::pcie_step, &collectives::Protocol::pcie_step);
  each_protocol_time(s, visitor, &collectives::Transport::host_step, &collectives::Protocol::host_step);
  for (schedules::HostLink::Copy* copy : {&s.host_link.to_gpu, &s.host_link.to_host, &s.host_link.both})
    if (copy->latency) visitor.time(*copy->latency);
}

void network(Scenario& s, ResourceVisitor& visitor) { link_rates(s, visitor, is_network); }

void network_latency(Scenario& s, ResourceVisitor& visitor) {
  link_latencies(s, visitor, is_network);
  each_link(s.cluster.node, [&](LinkType& link) {
    topology::NcclOverNetwork& nccl = link.nccl;
    for (Time* each : {&nccl.simple, &nccl.ll128, &nccl.ll, &nccl.messages}) visitor.time(*each);
  });
  visitor.time(s.cluster.fabric.switch_latency);
  visitor.time(s.cluster.fabric.cable_latency);
  each_protocol_time(s, visitor, &collectives::Transport::network_step, &collectives::Protocol::network_step);
  visitor.time(s.software.tensor_delay);
  visitor.time(s.software.send_delay);
}

void collective_launch(Scenario& s, ResourceVisitor& visitor) {
  each_protocol_time(s, visitor, &collectives::Transport::launch, &collectives::Protocol::launch);
  each_protocol_time(s, visitor, &collectives::Transport::ramp, &collectives::Protocol::ramp);
  collectives::Transport& transport = s.software.transport;
  for (collectives::Protocol* each : {&transport.ll128, &transport.ll, &transport.nvls, &transport.p2p})
    visitor.time(each->message);
  visitor.time(transport.issue);
}

void storage(Scenario& s, ResourceVisitor& visitor) {
  for (std::optional<Bandwidth>* rate :
       {&s.input.storage_bandwidth, &s.checkpoint.bandwidth, &s.offload.nvme_bandwidth})
    if (*rate) visitor.rate((*rate)->value);
}

void cpu(Scenario& s, ResourceVisitor& visitor) {
  visitor.time(s.input.preprocessing);
  if (s.offload.any()) visitor.rate(s.offload.adam_rate);
}

std::optional<RatedAt> rated_at(const std::optional<LinkType>& link) {
  if (!link) return std::nullopt;
  return link->bandwidth;
}

constexpr std::array kResources{
    RatedResource{
        "gpu_flops", "peak rates of the GPU in all precisions (cluster.node.gpu.peak)", gpu_flops,
        [](const Scenario& s) -> std::optional<RatedAt> { return peak(s.cluster.gpu, s.training.precision); }},
    RatedResource{"gpu_memory", "the rate of the GPU's memory (cluster.node.gpu.memory.bandwidth)", gpu_memory,
                  [](const Scenario& s) -> std::optional<RatedAt> { return s.cluster.gpu.memory_bandwidth; }},
    RatedResource{"kernel_start",
                  "what kernels take besides their work (software.kernel_gap, grouped_multiply_launch, the GPU's "
                  "memory.ramp)",
                  kernel_start},
    RatedResource{"scans", "rates of multiprocessors in scans of chunks (software.scan_rates, scan_step)", scans},
    RatedResource{"host", "what the host takes to launch kernels (software.host_per_...)", host},
    RatedResource{"nvlink", "the rate of NVLink, or of what else joins GPUs directly", nvlink,
                  [](const Scenario& s) { return rated_at(s.cluster.node.nvlink); }},
    RatedResource{"nvlink_latency", "latency of NVLink, and what the library adds to each transfer over it",
                  nvlink_latency},
    RatedResource{"pcie", "rates of PCIe, of links between sockets and of copies between GPU and host", pcie,
                  [](const Scenario& s) { return rated_at(s.cluster.node.pcie); }},
    RatedResource{"pcie_latency", "their latency, and what the library adds to each transfer over them", pcie_latency},
    RatedResource{"network", "the rate of the nodes' adapters and of the fabric, whose links are of their kind",
                  network, [](const Scenario& s) { return rated_at(s.cluster.node.nic); }},
    RatedResource{"network_latency",
                  "latency of adapters, cables and switches, what the library adds to each transfer between nodes, "
                  "software.tensor_delay and send_delay",
                  network_latency},
    RatedResource{"collective_launch", "what the library takes to start a collective (transport.launch, ramp)",
                  collective_launch},
    RatedResource{"storage", "rates of storage and drives (input, checkpoint, offload.nvme_bandwidth)", storage},
    RatedResource{"cpu", "preprocessing of samples, and updates of offloaded parameters by the hosts", cpu},
};

class Improving : public ResourceVisitor {
 public:
  explicit Improving(double factor) : factor_(factor) {}
  void rate(double& per_second) override { per_second *= factor_; }
  void time(Time& time) override { time = {std::llround(static_cast<double>(time.value) / factor_)}; }

 private:
  const double factor_;
};

class Looking : public ResourceVisitor {
 public:
  bool found = false;
  void rate(double& per_second) override { found = found || per_second > 0; }
  void time(Time& time) override { found = found || time > Time{}; }
};

}  // namespace

std::span<const RatedResource> resources() { return kResources; }

void improve(Scenario& scenario, const RatedResource& resource, double factor) {
  Improving improving(factor);
  resource.visit(scenario, improving);
}

bool has(const Scenario& scenario, const RatedResource& resource) {
  Scenario copy = scenario;
  Looking looking;
  resource.visit(copy, looking);
  return looking.found;
}

}  // namespace stepcast::search
