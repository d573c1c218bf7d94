#pragma once

#include <pybind11/pybind11.h>

#include "language/core/tree.h"

namespace stepcast::python {

/// What a scenario's file would say, out of a dict of the same keys. Keys with dots ("parallelism.tensor") are laid
/// over the others, as --set lays them over a file. None is a key without a value; under a key with dots it takes that
/// key away. Throws InputError for a key that is given twice, and for what no scenario can hold.
language::Node tree_of(const pybind11::dict& scenario);

/// A value as --set and --axis take it: 8, true, 0.5, '400 Gbit/s', [4, 4, 3].
std::string setting_text(const pybind11::handle& value, const std::string& key);

}  // namespace stepcast::python
