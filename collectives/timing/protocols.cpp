#include "collectives/timing/protocols.h"

#include <string>

#include "sim/input_error.h"

namespace stepcast::collectives {

std::string_view name_of(Proto proto) {
  constexpr std::string_view names[] = {"Simple", "LL128", "LL", "Simple", "Simple", "LL"};
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
    case Proto::p2p:
      return t.p2p;
    case Proto::p2p_ll: {
      Protocol ll = t.ll;
      ll.launch = t.p2p.launch;
      ll.message = t.p2p.message;
      return ll;
    }
  }
  return {};
}

Proto meant(Proto named, Operation operation, const Transport& transport) {
  if (!by_messages(operation) || transport.p2p.share <= 0) return named;
  return named == Proto::simple ? Proto::p2p : named == Proto::ll ? Proto::p2p_ll : named;
}

bool messages_take(Proto proto, Bytes message, std::uint32_t nodes) {
  constexpr Bytes kMostByLl{16 << 10};
  return proto == Proto::simple || (proto == Proto::ll && message <= kMostByLl && nodes == 1);
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
