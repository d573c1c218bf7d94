#include "language/frameworks/frameworks.h"

#include <array>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {

extern const Framework megatron, deepspeed, torchtitan, nanotron;

std::span<const Framework* const> frameworks() {
  static constexpr std::array all{&megatron, &deepspeed, &torchtitan, &nanotron};
  return all;
}

const Framework& framework_named(const std::string& name, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Framework* framework : frameworks()) {
    if (framework->name == name) return *framework;
    names.push_back(framework->name);
  }
  throw InputError(place, "found " + in_quotes(name) + ", expected " + one_of(name, names));
}

}  // namespace stepcast::language
