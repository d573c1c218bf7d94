#pragma once

#include <string_view>
#include <vector>

#include "collectives/algorithms.h"
#include "collectives/timing/protocols.h"

namespace stepcast::collectives {

/// Whether the stack has a protocol, and nothing forbids it.
bool may_use(const Transport& transport, Proto proto);

/// Whether an algorithm knows no other protocol than Simple.
bool by_simple(const Algorithm& algorithm);

/// The algorithm of that name, or those that "auto" considers, which can do what is asked. Of algorithms that are
/// forced none may do the operation: then it is the library's choice, as in NCCL. Throws InputError where none can.
std::vector<const Algorithm*> candidates(const Transport& transport, std::string_view name, const Request& request);

/// Whether some algorithm that this name may come to looks at the links.
bool views_links(const Transport& transport, std::string_view name, const Request& request);

}  // namespace stepcast::collectives
