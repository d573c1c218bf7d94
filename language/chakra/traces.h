#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/chakra/trace.h"

namespace stepcast::language {

/// Traces of all ranks as they were read, with what stands beside them.
struct Traces {
  std::string prefix;                              ///< of their files, as messages show it
  std::vector<ChakraTrace> traces{};               ///< by rank
  std::string groups_file{}, details_file{};       ///< as messages show them
  std::optional<std::string> groups{}, details{};  ///< their texts; nothing: there is no such file
};

/// A node of a rank's trace, by its place in the file.
struct NodePlace {
  std::uint32_t rank = 0;
  std::size_t node = 0;
};

/// Traces whose nodes have ids of their own and come after nodes of the same file. What they are asked for and do not
/// have, or have otherwise, is an InputError with file, node and attribute.
class CheckedTraces {
 public:
  explicit CheckedTraces(const Traces& traces);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(traces_.traces.size()); }
  const std::vector<ChakraNode>& nodes(std::uint32_t rank) const { return traces_.traces[rank].nodes; }
  const ChakraNode& node(NodePlace at) const { return nodes(at.rank)[at.node]; }
  /// The places, in the rank's file, of what a node comes after, each once.
  std::vector<std::size_t> after(NodePlace at) const;

  /// An attribute; nothing: the node has none of this name.
  std::optional<std::uint64_t> number(NodePlace at, std::string_view attribute) const;
  std::optional<bool> yes(NodePlace at, std::string_view attribute) const;
  std::optional<std::string> text(NodePlace at, std::string_view attribute) const;
  std::vector<std::uint64_t> numbers(NodePlace at, std::string_view attribute) const;
  /// One that the node must have.
  std::uint64_t needed(NodePlace at, std::string_view attribute) const;

  /// "PREFIX.3.et".
  std::string file(std::uint32_t rank) const;
  /// "PREFIX.3.et: node 17 (all_reduce)".
  std::string place(NodePlace at) const;
  [[noreturn]] void fail(NodePlace at, std::string_view attribute, const std::string& why) const;

 private:
  const ChakraValue* value(NodePlace at, std::string_view attribute) const;

  const Traces& traces_;
  std::vector<std::unordered_map<std::uint64_t, std::size_t>> by_id_;  ///< by rank
};

}  // namespace stepcast::language
