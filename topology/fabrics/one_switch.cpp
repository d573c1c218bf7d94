#include <algorithm>

#include "topology/fabrics.h"

namespace stepcast::topology {

namespace {

/// One switch of as many ports as are needed, which never blocks: only the NICs' own cables limit.
class OneSwitch final : public Fabric {
 public:
  explicit OneSwitch(std::uint32_t nics) : nics_(nics) {
    switches = 1;
    may_block = false;
  }
  Device device(std::uint32_t) const override { return {"switch", DeviceKind::leaf}; }
  std::uint32_t switch_of(std::uint32_t, std::uint32_t) const override { return 0; }
  bool route(std::uint32_t, std::uint32_t, std::uint64_t, std::vector<std::uint32_t>&) const override { return true; }
  /// What the smaller half of the NICs can do.
  Bandwidth bisection(const Halves& halves) const override {
    return std::min(halves.out * (halves.senders * nics_), halves.in * ((halves.nodes - halves.senders) * nics_));
  }

 private:
  double nics_;
};

std::unique_ptr<const Fabric> build_one_switch(const FabricRequest& request) {
  return std::make_unique<OneSwitch>(request.nics_per_node);
}

}  // namespace

extern const FabricBuilder one_switch_fabric;
constinit const FabricBuilder one_switch_fabric{
    .name = "one-switch",
    .summary = "every NIC on one big switch that never blocks (switch_latency, cable_latency)",
    .source = {},
    .build = build_one_switch};

}  // namespace stepcast::topology
