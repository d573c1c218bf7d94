#pragma once

#include <string>
#include <vector>

#include "language/core/schema.h"

namespace stepcast::app {

/// A key of the scenario language and the values that it takes in turn.
struct SweepAxis {
  std::string key;
  const language::KeyInfo* info = nullptr;
  std::vector<std::string> values;  ///< as --set takes them, each one that the key's type allows
};

/// "KEY=VALUES" behind --axis: values with commas between them, of which one may be a range where the key holds numbers
/// or quantities. "1:8" counts by one (whole numbers alone), "1024:8192:1024" adds, "1:64:*2" (or "1:64:x2", which no
/// shell takes for a file) multiplies; "100 Gbit/s:800 Gbit/s:*2" has the unit of its first value. Ends are included
/// where the steps reach them. A comma in brackets or double quotes is part of a value. Throws InputError for an
/// unknown key, a value that it does not allow, one given twice, and more than 10,000.
SweepAxis read_axis(const std::string& word);

}  // namespace stepcast::app
