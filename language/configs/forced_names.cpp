#include "language/configs/forced_names.h"

#include "sim/input_error.h"

namespace stepcast::language {

std::vector<std::string> forced_names(const Value& v, std::vector<std::string> (*parse)(std::string_view)) {
  try {
    return parse(v.text);
  } catch (const InputError& error) {
    fail(v.node->place, v.path, error.what());
  }
}

}  // namespace stepcast::language
