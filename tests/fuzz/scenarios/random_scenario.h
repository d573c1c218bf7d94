#pragma once

#include <string>

#include "tests/fuzz/scenarios/choices.h"
#include "tests/fuzz/scenarios/random_machine.h"

namespace stepcast::test {

/// The text of a scenario file that looks right: all families, ways to share the work, pipeline schedules, ZeRO stages,
/// offload, recomputation, imperfections, on machines of configs/ and of its own, of a size whose forecast is quick.
/// Many contradict themselves somewhere, and some have a wrong number, key or line.
std::string random_scenario(Choices& choose, const ConfigNames& names);

}  // namespace stepcast::test
