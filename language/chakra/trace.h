#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace stepcast::language {

/// What a node of a Chakra trace does. The numbers are those of NodeType in app/chakra_module/schema/et_def.proto.
enum class ChakraType : int {
  invalid,
  metadata,
  memory_load,
  memory_store,
  compute,
  send,
  receive,
  collective,
};

/// An attribute's value in the kinds that traces use. What is read of any integer is a std::int64_t, but of numbers
/// that do not fit; of lists, those of integers alone are read.
using ChakraValue =
    std::variant<bool, std::int32_t, std::int64_t, std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

struct ChakraAttribute {
  std::string name;
  ChakraValue value;
};

/// A node, which starts when all that it comes `after` (control and data dependencies) have ended.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name{};
  ChakraType type{};
  std::vector<std::uint64_t> after{};
  std::uint64_t duration_micros = 0;
  std::string input_values{};  ///< of metadata: process groups
  std::vector<ChakraAttribute> attributes{};
};

/// The trace of one rank: a file.
struct ChakraTrace {
  std::string version{};  ///< of the schema, as its writer says
  std::vector<ChakraNode> nodes{};
};

}  // namespace stepcast::language
