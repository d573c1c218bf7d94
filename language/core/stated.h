#pragma once

#include <string>
#include <vector>

#include "language/core/tree.h"

namespace stepcast::language {

/// A value as some file states it.
struct Stated {
  std::string path;    ///< of its key: "memory.size", "network[2]"
  std::string value;   ///< as written, with its unit; a list's item as YAML writes it on one line
  Place place;         ///< of the value
  std::string remark;  ///< the comment behind it; "": none
};

/// Every value of a block whose bases and includes are merged, in the order written. Reads the files again for their
/// comments. Throws InputError where one cannot be read.
std::vector<Stated> stated(const Node& block);

/// The block as YAML writes it on one line: {op: linear, out: 1000}.
std::string on_one_line(const Node& node);

}  // namespace stepcast::language
