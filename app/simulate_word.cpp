#include "app/simulate_word.h"

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

std::optional<schedules::Simulate> simulate_word(const std::string& word, const std::string& place) {
  if (word.empty()) return std::nullopt;
  if (word == "all") return schedules::Simulate::all;
  if (word == "fitting") return schedules::Simulate::what_may_fit;
  if (word == "none") return schedules::Simulate::nothing;
  throw InputError(place, "found " + in_quotes(word) + ", expected one of all, fitting, none");
}

}  // namespace stepcast::app
