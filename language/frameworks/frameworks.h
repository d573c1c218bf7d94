#pragma once

#include <span>
#include <string>

#include "language/frameworks/framework.h"

namespace stepcast::language {

/// Every framework, in the order that help prints them.
std::span<const Framework* const> frameworks();

/// Their names as a sentence has them: "megatron, deepspeed or nemo".
std::string framework_names();

/// By name. Throws InputError at `place` with all names.
const Framework& framework_named(const std::string& name, const std::string& place);

}  // namespace stepcast::language
