#pragma once

#include "sim/input_error.h"

namespace stepcast::test {

/// Whether `attempt` refuses its input, as all of stepcast refuses input: with an InputError. Any other exception ends
/// the program, which is what the fuzzer looks for.
template <class Attempt>
bool refused(Attempt attempt) {
  try {
    attempt();
    return false;
  } catch (const InputError&) {
    return true;
  }
}

}  // namespace stepcast::test
