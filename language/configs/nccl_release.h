#pragma once

#include <string>

#include "language/core/schema.h"

namespace stepcast::language {

/// A release of NCCL, "2.21.5" or "2.21": numbers with dots between them. Throws InputError at the value's place.
std::string nccl_release(const Value& v);

}  // namespace stepcast::language
