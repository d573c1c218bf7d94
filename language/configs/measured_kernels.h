#pragma once

#include "language/core/type.h"
#include "scenario/measured_kernels.h"

namespace stepcast::language {

/// Names of makers of kernels, for the keys that say whose a kernel is.
Names kernel_maker_names();

/// The entries of a profile's `kernels:` list. Throws InputError for an entry without a maker and for a maker named
/// twice.
schedules::KernelsByMaker read_measured_kernels(const Value& value);

/// The reference of an entry's keys.
const Schema& measured_kernels_schema();

}  // namespace stepcast::language
