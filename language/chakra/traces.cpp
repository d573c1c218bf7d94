#include "language/chakra/traces.h"

#include <algorithm>

#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {

CheckedTraces::CheckedTraces(const Traces& traces) : traces_(traces), by_id_(traces.traces.size()) {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    for (std::size_t n = 0; n < nodes(rank).size(); ++n)
      if (const auto [known, fresh] = by_id_[rank].try_emplace(nodes(rank)[n].id, n); !fresh)
        fail({rank, n}, "id", "found " + std::to_string(known->first) + " a second time, expected one of its own");
    for (std::size_t n = 0; n < nodes(rank).size(); ++n)
      for (const std::uint64_t id : nodes(rank)[n].after)
        if (!by_id_[rank].contains(id))
          fail({rank, n}, "dependencies", "found " + std::to_string(id) + ", expected the id of a node of this file");
  }
}

std::vector<std::size_t> CheckedTraces::after(NodePlace at) const {
  std::vector<std::size_t> places;
  for (const std::uint64_t id : node(at).after) places.push_back(by_id_[at.rank].at(id));
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

const ChakraValue* CheckedTraces::value(NodePlace at, std::string_view attribute) const {
  for (const auto& [name, value] : node(at).attributes)
    if (name == attribute) return &value;
  return nullptr;
}

std::optional<std::uint64_t> CheckedTraces::number(NodePlace at, std::string_view attribute) const {
  const ChakraValue* const found = value(at, attribute);
  if (found == nullptr) return std::nullopt;
  if (const auto* small = std::get_if<std::int32_t>(found); small != nullptr && *small >= 0)
    return static_cast<std::uint64_t>(*small);
  if (const auto* whole = std::get_if<std::int64_t>(found); whole != nullptr && *whole >= 0)
    return static_cast<std::uint64_t>(*whole);
  if (const auto* large = std::get_if<std::uint64_t>(found)) return *large;
  fail(at, attribute, "expected a whole number, at least 0");
}

std::optional<bool> CheckedTraces::yes(NodePlace at, std::string_view attribute) const {
  const ChakraValue* const found = value(at, attribute);
  if (found == nullptr) return std::nullopt;
  if (const bool* const is = std::get_if<bool>(found)) return *is;
  if (const std::uint64_t as_number = *number(at, attribute); as_number <= 1) return as_number == 1;
  fail(at, attribute, "expected true or false");
}

std::optional<std::string> CheckedTraces::text(NodePlace at, std::string_view attribute) const {
  const ChakraValue* const found = value(at, attribute);
  if (found == nullptr) return std::nullopt;
  if (const std::string* const is = std::get_if<std::string>(found)) return *is;
  fail(at, attribute, "expected a text");
}

std::vector<std::uint64_t> CheckedTraces::numbers(NodePlace at, std::string_view attribute) const {
  const ChakraValue* const found = value(at, attribute);
  if (found == nullptr) return {};
  if (const auto* const is = std::get_if<std::vector<std::uint64_t>>(found)) return *is;
  fail(at, attribute, "expected a list of whole numbers");
}

std::uint64_t CheckedTraces::needed(NodePlace at, std::string_view attribute) const {
  if (const std::optional<std::uint64_t> found = number(at, attribute)) return *found;
  fail(at, attribute, "expected this attribute");
}

std::string CheckedTraces::file(std::uint32_t rank) const {
  return traces_.prefix + "." + std::to_string(rank) + ".et";
}

std::string CheckedTraces::place(NodePlace at) const {
  const ChakraNode& of = node(at);
  return file(at.rank) + ": node " + std::to_string(of.id) + (of.name.empty() ? "" : " (" + visible(of.name) + ")");
}

void CheckedTraces::fail(NodePlace at, std::string_view attribute, const std::string& why) const {
  throw InputError(place(at) + ": " + std::string(attribute), why);
}

}  // namespace stepcast::language
