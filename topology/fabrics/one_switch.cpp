#include "topology/fabrics.h"

namespace stepcast::topology {

namespace {

/// One switch of as many ports as are needed, which never blocks: only the NICs' own cables limit.
class OneSwitch final : public Fabric {
 public:
  OneSwitch() { switches = 1; }
  Device device(std::uint32_t) const override { return {"switch", DeviceKind::leaf}; }
  std::uint32_t switch_of(std::uint32_t, std::uint32_t) const override { return 0; }
  bool route(std::uint32_t, std::uint32_t, std::uint64_t, std::vector<std::uint32_t>&) const override { return true; }
};

std::unique_ptr<const Fabric> build_one_switch(const FabricRequest&) { return std::make_unique<OneSwitch>(); }

}  // namespace

extern const FabricBuilder one_switch_fabric;
constinit const FabricBuilder one_switch_fabric{
    .name = "one-switch",
    .summary = "every NIC on one big switch that never blocks (switch_latency, cable_latency)",
    .source = {},
    .build = build_one_switch};

}  // namespace stepcast::topology
