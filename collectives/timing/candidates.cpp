#include "collectives/timing/candidates.h"

#include <algorithm>
#include <string>

#include "collectives/nccl/search.h"
#include "collectives/search/view_links.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

/// Why an algorithm cannot do what is asked: it does other operations there, or needs another machine.
std::string why_not(const Algorithm& algorithm, Request request) {
  std::string others;
  for (const Operation operation : kOperations) {
    request.operation = operation;
    if (algorithm.supports(request)) others += (others.empty() ? "" : ", ") + std::string(name(operation));
  }
  if (!others.empty()) return ": there it does " + others;
  return algorithm.needs.empty() ? "" : ": it needs " + std::string(algorithm.needs);
}

/// A protocol that it knows may be used.
bool may_run(const Transport& transport, const Algorithm& each) {
  return !by_simple(each) || may_use(transport, Proto::simple);
}

/// The stack's release has it.
bool is_there(const Transport& transport, const Algorithm& each) {
  for (const nccl::Algo later : {nccl::Algo::nvls, nccl::Algo::nvls_tree, nccl::Algo::pat}) {
    if (each.name != nccl::plan_name(later, 1)) continue;
    return nccl::has_model(transport.nccl_version) && nccl::has(nccl::constants(transport.nccl_version), later);
  }
  return true;
}

/// What "auto" considers. Of algorithms that are forced none may do the operation: then it is the library's choice, as
/// in NCCL.
std::vector<const Algorithm*> considered(const Transport& transport, const Request& request) {
  std::vector<const Algorithm*> found;
  for (const std::string& forced : transport.forced.algorithms) {
    const Algorithm& each = algorithm(forced);
    if (request.servers > 0) break;
    if (may_run(transport, each) && each.supports(request)) found.push_back(&each);
  }
  if (!found.empty()) return found;
  const std::vector<std::string>& without = transport.forced.without;
  bool forbidden = false;
  for (const Algorithm* each : algorithms()) {
    const bool automatic = request.servers > 0 ? each->has_servers
                           : each->in_nvswitch ? transport.nvls.share > 0
                                               : each->automatic(request);
    if (!automatic || !is_there(transport, *each) || !may_run(transport, *each) || !each->supports(request)) continue;
    forbidden = forbidden || std::ranges::find(without, each->name) != without.end();
    if (std::ranges::find(without, each->name) == without.end()) found.push_back(each);
  }
  if (found.empty() && forbidden) {
    throw InputError("transport.algorithm", "leaves nothing that does " +
                                                std::string(collectives::name(request.operation)) + " over " +
                                                std::to_string(request.ranks) + " ranks");
  }
  if (found.empty()) {
    throw InputError("algorithm", "none can do " + std::string(collectives::name(request.operation)) + " over " +
                                      std::to_string(request.ranks) + " ranks");
  }
  return found;
}

}  // namespace

bool may_use(const Transport& transport, Proto proto) {
  const std::vector<std::string>& forced = transport.forced.protocols;
  // LL128 came with the cost model (NCCL 2.5.6, src/collectives/device/prims_ll128.h).
  if (proto == Proto::ll128 && !nccl::has_model(transport.nccl_version)) return false;
  return constants_of(transport, proto).share > 0 &&
         (forced.empty() || std::ranges::find(forced, name_of(proto)) != forced.end());
}

bool by_simple(const Algorithm& each) { return each.in_nvswitch || each.simple_alone; }

std::vector<const Algorithm*> candidates(const Transport& transport, std::string_view name, const Request& request) {
  if (name == "auto") return considered(transport, request);
  const Algorithm& wanted = algorithm(name);
  if (request.servers > 0 && !wanted.has_servers) {
    throw InputError("servers", "'" + std::string(name) + "' has none: that is for parameter servers");
  }
  if (!wanted.supports(request)) {
    throw InputError("algorithm", "'" + std::string(name) + "' cannot do " +
                                      std::string(collectives::name(request.operation)) + " over " +
                                      std::to_string(request.ranks) + " ranks" + why_not(wanted, request));
  }
  return {&wanted};
}

bool views_links(const Transport& transport, std::string_view name, const Request& request) {
  const bool switches = name == "auto" && transport.nvls.share > 0 && request.nodes == 1;
  const auto needs = [](std::string_view each) { return algorithm(each).needs_links; };
  const bool named = name == "auto" ? std::ranges::any_of(transport.forced.algorithms, needs) : needs(name);
  return (switches || named) && request.ranks <= kMostViewed;
}

}  // namespace stepcast::collectives
