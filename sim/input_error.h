#pragma once

#include <stdexcept>
#include <string>

namespace stepcast {

/// The user's mistake in a file, a flag or a log: caught once, in main, and ends with exit status 2.
/// `place` is file:line:column or the flag's name; `what` says what was found and what is allowed.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& place, const std::string& what)
      : std::runtime_error(place.empty() ? what : place + ": " + what) {}
};

}  // namespace stepcast
