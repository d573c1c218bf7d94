#include "language/configs/profile.h"

#include "language/configs/measured_kernels.h"
#include "language/core/library.h"
#include "language/core/read_mapping.h"

namespace stepcast::language {
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
          {{"kernels", list_of_mappings("[{by: cudnn, attention: {forward: 0.7}}]", measured_kernels_schema), "",
            "of each maker's kernels, what stacks that run them reach; of others nothing changes"},
           [](P& p, const Value& v) { p.kernels = read_measured_kernels(v); }},
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
          {{"copies.h2d_pinned.latency", time_type(), "", "host to GPU, pinned memory"},
           [](P& p, const Value& v) { p.host_link.to_gpu.latency = v.time; }},
          {{"copies.h2d_pinned.bandwidth", bandwidth_type(), "", "likewise"},
           [](P& p, const Value& v) { p.host_link.to_gpu.bandwidth = v.bandwidth; }},
          {{"copies.d2h_pinned.latency", time_type(), "", "GPU to host, pinned memory"},
           [](P& p, const Value& v) { p.host_link.to_host.latency = v.time; }},
          {{"copies.d2h_pinned.bandwidth", bandwidth_type(), "", "likewise"},
           [](P& p, const Value& v) { p.host_link.to_host.bandwidth = v.bandwidth; }},
          {{"copies.both_pinned.latency", time_type(), "", "both ways at once, each way"},
           [](P& p, const Value& v) { p.host_link.both.latency = v.time; }},
          {{"copies.both_pinned.bandwidth", bandwidth_type(), "", "likewise"},
           [](P& p, const Value& v) { p.host_link.both.bandwidth = v.bandwidth; }},
          {{"interference.copy_h2d", number(0), "", "compute takes 1 + this beside a copy from the host"},
           [](P& p, const Value& v) { p.host_link.slowdown = v.number; }},
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
  scenario.host_link = profile.host_link;
  if (profile.software) read(software_table(), *profile.software, "profile.software", library, scenario.software);
  use_measured_kernels(profile.kernels, scenario.cluster.gpu, scenario.software);
}

}  // namespace stepcast::language
