#include "language/frameworks/frameworks.h"

#include <array>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {

extern const Framework megatron, deepspeed, torchtitan, nanotron, nemo, megatron_bridge, hf_trainer;

std::span<const Framework* const> frameworks() {
  static constexpr std::array all{&megatron, &deepspeed, &torchtitan, &nanotron, &nemo, &megatron_bridge, &hf_trainer};
  return all;
}

std::string framework_names() {
  std::string names;
  const auto all = frameworks();
  for (std::size_t i = 0; i < all.size(); ++i)
    names += std::string(i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + std::string(all[i]->name);
  return names;
}

const Framework& framework_named(const std::string& name, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Framework* framework : frameworks()) {
    if (framework->name == name) return *framework;
    names.push_back(framework->name);
  }
  throw InputError(place, "found " + in_quotes(name) + ", expected " + one_of(name, names));
}

std::string name_in(const Framework& framework, std::string_view key) {
  for (const FlagRow& row : framework.rows())
    if (row.key == key) return std::string(row.name);
  return std::string(key);
}

}  // namespace stepcast::language
