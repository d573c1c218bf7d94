#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepcast::language {

/// A scenario drawn from what a framework can start, the same for each seed; it may still contradict itself.
std::string random_plan(std::string_view framework, std::uint64_t seed);

}  // namespace stepcast::language
