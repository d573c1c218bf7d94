#include "collectives/timing/protocols.h"

#include <string>

#include "sim/input_error.h"

namespace stepcast::collectives {

bool in_nvswitch(const Algorithm& algorithm) { return algorithm.in_nvswitch; }

std::string_view name_of(Proto proto) {
  constexpr std::string_view names[] = {"Simple", "LL128", "LL", "Simple"};
  return names[static_cast<std::size_t>(proto)];
}

Protocol constants_of(const Transport& t, Proto proto) {
  switch (proto) {
    case Proto::simple:
      return {t.launch, t.ramp, t.nvlink_step, t.pcie_step, t.host_step, t.network_step, 1.0};
    case Proto::ll128:
      return t.ll128;
    case Proto::ll:
      return t.ll;
    case Proto::nvls: {  // its share is of NVLink alone
      Protocol nvls = t.nvls;
      nvls.share = nvls.share > 0 ? 1 : 0;
      return nvls;
    }
  }
  return {};
}

Wanted parse_wanted(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {name, {}};
  const std::string_view protocol = name.substr(slash + 1);
  for (const Proto each : kProtocols) {
    if (protocol == name_of(each)) return {name.substr(0, slash), each};
  }
  throw InputError("algorithm", "found protocol '" + std::string(protocol) + "'. Allowed: Simple, LL128, LL");
}

}  // namespace stepcast::collectives
