#pragma once

#include <string>
#include <string_view>

#include "language/sites/infiniband.h"

namespace stepcast::language {

/// Reads what iblinkinfo prints, without --line: of each switch and adapter its ports, what is at their other ends, and
/// the links' widths and speeds. Ports that are down, or up and not active yet, are passed over. Switches are told
/// apart by their LIDs. Throws InputError with file:line:column for a line of another form, and for one of --line,
/// which does not say what is a switch. Source: linux-rdma/rdma-core, infiniband-diags/iblinkinfo.c (print_node_header,
/// print_port).
InfinibandFabric read_iblinkinfo(std::string_view text, const std::string& file);

}  // namespace stepcast::language
