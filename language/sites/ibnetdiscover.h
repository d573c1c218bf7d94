#pragma once

#include <string>
#include <string_view>

#include "language/sites/infiniband.h"

namespace stepcast::language {

/// Reads what ibnetdiscover prints: of each switch and adapter its ports, what is at their other ends, and the links'
/// widths and speeds. With --grouping and --full too; not its --list and --ports. Throws InputError with file:line for
/// a line of another form, a speed that ibnetdiscover had no name for, and a device named and not there. Source:
/// linux-rdma/rdma-core, infiniband-diags/ibnetdiscover.c (out_switch, out_switch_port, out_ca, out_ca_port) and
/// man/ibnetdiscover.8.in.rst, "TOPOLOGY FILE FORMAT".
InfinibandFabric read_ibnetdiscover(std::string_view text, const std::string& file);

}  // namespace stepcast::language
