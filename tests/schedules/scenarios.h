#pragma once

#include "scenario/scenario.h"

namespace stepcast::schedules {

/// A GPT on a made-up machine with round numbers: 8 GPUs a node on NVSwitch, one NIC each, one switch between nodes.
inline Scenario round_numbers(std::uint32_t gpus) {
  Scenario s;
  s.name = "round numbers";
  topology::NodeSpec& node = s.cluster.node;
  node.name = "round";
  node.gpu = "round";
  node.nics = 8;
  node.nvlinks_per_gpu = 10;
  node.nvlink = topology::LinkType{"nv", topology::LinkKind::nvlink, {20e9}, 1.0, nanoseconds(500), ""};
  node.pcie = topology::LinkType{"pcie", topology::LinkKind::pcie, {25e9}, 1.0, nanoseconds(500), ""};
  node.socket_link = topology::LinkType{"socket", topology::LinkKind::socket, {40e9}, 1.0, nanoseconds(500), ""};
  node.nic = topology::LinkType{"nic", topology::LinkKind::network, {20e9}, 1.0, microseconds(1), ""};
  s.cluster.fabric.kind = "one-switch";
  s.cluster.gpus = gpus;
  s.cluster.gpu.name = "round";
  s.cluster.gpu.sms = 100;
  s.cluster.gpu.memory = {1LL << 40};
  s.cluster.gpu.memory_bandwidth = {2e12};
  s.cluster.gpu.peak = {{Precision::fp16, {300e12}}, {Precision::bf16, {300e12}}, {Precision::fp32, {20e12}}};
  s.model = {"small", Family::gpt, 16, 2048, 16, 16, 8192, 51200, ""};
  s.training = {.global_batch = 64, .micro_batch = 1, .sequence = 1024, .precision = Precision::fp16};
  s.software.optimizer_bytes_per_parameter = 60;
  s.software.transport.launch = microseconds(10);
  s.software.transport.nvlink_step = microseconds(2);
  s.software.transport.network_step = microseconds(5);
  return s;
}

}  // namespace stepcast::schedules
