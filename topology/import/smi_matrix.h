#pragma once

#include <string>
#include <string_view>

#include "topology/spec.h"

namespace stepcast::topology {

/// What a matrix does not say: which links its machine has.
struct SmiLinks {
  LinkType nvlink, pcie, socket;
};

/// A machine from what `nvidia-smi topo -m` prints, as devices and links for the builder "graph" whose matrix is the
/// same again. NVLinks join pairs, or, where one GPU's would be more than the 18 a GPU can have, all GPUs through an
/// NVSwitch. PIX: on one PCIe switch; PXB: on switches under one switch; PHB: on the processor; NODE: each on a switch
/// of its own below the processor; SYS: on different processors. The NUMA column places GPUs where there is one, else a
/// GPU joins the first processor none of whose GPUs it sees as SYS. Throws InputError(place, ...) for text without a
/// matrix, rows of another length, words that are no path, NVLinks of anything but GPUs, more than 1024 GPUs and NICs,
/// and more than 64 processors.
NodeSpec import_smi_matrix(std::string_view text, const SmiLinks& links, const std::string& place);

}  // namespace stepcast::topology
