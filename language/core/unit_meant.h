#pragma once

#include <string>
#include <string_view>

#include "language/core/type.h"

namespace stepcast::language {

/// How a complaint about a quantity ends: "; did you mean '200 Gbit/s'?" for '200 Gbps', both readings where people
/// mean either ('10G'), nothing where the text is no number with a unit that anyone would write. Every reading named is
/// one that the type takes.
std::string unit_meant(Type::Kind kind, std::string_view text);

}  // namespace stepcast::language
