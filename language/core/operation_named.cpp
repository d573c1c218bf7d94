#include "language/core/operation_named.h"

#include <string_view>
#include <vector>

#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {

using collectives::kOperations;
using collectives::Operation;

Operation operation_named(const std::string& word, const std::string& place) {
  std::vector<std::string_view> names;
  for (const Operation each : kOperations) {
    if (collectives::name(each) == word) return each;
    names.push_back(collectives::name(each));
  }
  throw InputError(place, "found " + in_quotes(word) + ", expected " + one_of(word, names));
}

}  // namespace stepcast::language
