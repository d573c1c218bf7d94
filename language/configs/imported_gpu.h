#pragma once

#include <string>

#include "language/core/type.h"
#include "scenario/gpu.h"
#include "topology/import/nccl_xml.h"

namespace stepcast::language {

/// The one GPU of configs/gpus/ that fits what a file of another program says of a machine's GPUs. `shown` is that file
/// and `value` the node that names it. Throws InputError where none or several fit (with their names).
schedules::Gpu find_imported_gpu(const topology::XmlGpu& said, const Value& value, const std::string& shown);

}  // namespace stepcast::language
