#include "app/read/profile.h"

#include "app/read/library.h"

namespace stepcast::app {
namespace {

using P = Profile;

/// A key for people: read and checked, and nothing of a forecast depends on it.
Key<Profile> told(std::string_view path, Type type, std::string_view help) { return {{path, type, "", help}, nullptr}; }

}  // namespace

const Table<Profile>& profile_table() {
  static const Table<Profile> table(
      "Profile", "profiles",
      {
          {{"name", text_type(), "", "what people call it"}, [](P& p, const Value& v) { p.name = v.text; }},
          {{"gpu", block(gpu_schema), kRequired, "the GPU that was measured, its constants on top of its file's"},
           [](P& p, const Value& v) {
             p.gpu = read_block(gpu_table(), v);
             if (p.gpu.name.empty()) p.gpu.name = v.text;
           }},
          {{"software", block(software_schema), "", "what it replaces of any software: kernel_gap, transport, ..."},
           [](P& p, const Value& v) { p.software = *v.node; }},
          told("measured.run", text_type(), "the bundle's run"),
          told("measured.gpu_name", text_type(), "as the driver calls it"),
          told("measured.gpu_id", text_type(), "hash of its UUID"),
          told("measured.gpus", text_type(), "of the node"),
          told("measured.driver", text_type(), "version"),
          told("measured.cuda", text_type(), "version"),
          told("measured.cublaslt", text_type(), "version"),
          told("measured.nccl", text_type(), "version"),
          told("measured.clock_sm_mhz", text_type(), "highest"),
          told("measured.clock_memory_mhz", text_type(), "highest"),
          told("measured.power_limit_w", text_type(), "of one GPU"),
          told("measured.ecc", text_type(), "error correction of its memory"),
          told("measured.host_cpu", text_type(), ""),
          told("measured.host_cores", text_type(), ""),
          told("measured.date", text_type(), "ISO 8601"),
          told("measured.command", text_type(), "that measured"),
          told("copies.h2d_pinned.latency", time_type(), "host to GPU, pinned memory"),
          told("copies.h2d_pinned.bandwidth", bandwidth_type(), "likewise"),
          told("copies.h2d_pageable.latency", time_type(), "host to GPU, pageable memory"),
          told("copies.h2d_pageable.bandwidth", bandwidth_type(), "likewise"),
          told("copies.d2h_pinned.latency", time_type(), "GPU to host, pinned memory"),
          told("copies.d2h_pinned.bandwidth", bandwidth_type(), "likewise"),
          told("copies.d2h_pageable.latency", time_type(), "GPU to host, pageable memory"),
          told("copies.d2h_pageable.bandwidth", bandwidth_type(), "likewise"),
          told("copies.both_pinned.latency", time_type(), "both directions at once, pinned memory"),
          told("copies.both_pinned.bandwidth", bandwidth_type(), "likewise"),
          told("copies.both_pageable.latency", time_type(), "both directions at once, pageable memory"),
          told("copies.both_pageable.bandwidth", bandwidth_type(), "likewise"),
          told("copies.p2p.latency", time_type(), "GPU to GPU"),
          told("copies.p2p.bandwidth", bandwidth_type(), "likewise"),
          told("interference.copy_h2d", number(0), "compute takes 1 + this beside a copy from the host"),
          told("interference.copy_p2p", number(0), "likewise beside a copy between GPUs"),
          {{"source", text_type(), "", "where the numbers are from"}, [](P&, const Value&) {}},
      });
  return table;
}

const Schema& profile_schema() { return profile_table().schema; }

void apply(const Profile& profile, const Place& place, Library& library, schedules::Scenario& scenario) {
  if (profile.gpu.name != scenario.cluster.gpu.name) {
    fail(place, "profile",
         "found a profile of the GPU " + profile.gpu.name + ", expected one of the cluster's, " +
             scenario.cluster.gpu.name);
  }
  scenario.cluster.gpu = profile.gpu;
  if (profile.software) read(software_table(), *profile.software, "profile.software", library, scenario.software);
}

}  // namespace stepcast::app
