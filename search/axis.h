#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::search {

/// A key of the scenario that a search tries values of. Values are whole numbers: a size, or the place of a name.
struct SearchAxis {
  std::string_view key;             ///< as the scenario language has it
  std::string_view usual_in_words;  ///< the values tried where nobody says which
  std::int64_t (*of)(const schedules::Scenario&);
  /// Changes the scenario's value. Where it is another one, keys that said more of the old value are taken away.
  void (*set)(schedules::Scenario&, std::int64_t value);
  /// The values tried where nobody says which, in ascending order. Some of them may be refused by schedules::check.
  std::vector<std::int64_t> (*usual)(const schedules::Scenario&);
  std::vector<std::string_view> (*names)() = nullptr;  ///< none: values are numbers
  /// Keys that `set` takes away, but for those that the language itself takes away from another value.
  std::vector<std::string_view> details{};
  std::int64_t least = 1, most = 1'000'000'000;  ///< of numbers
  std::string_view unit{};                       ///< of numbers: "MiB"
  bool list = false;  ///< names stand for lists of words: "tensor-data" is what the language writes [tensor, data]
};

/// Every axis, the outermost first: values of the last one change fastest. Those up to kSharedAxes decide what a
/// layer's kernels and their traffic take, so plans that differ in the others alone share that.
std::span<const SearchAxis> axes();
inline constexpr std::size_t kAxes = 18, kSharedAxes = 13;

/// The values of the axis parallelism.layers_per_stage.
enum class LayersPerStage : std::uint8_t {
  given,    ///< as the scenario says, or its partition
  balanced  ///< by what layers take (search/layer_cuts.h); SearchAxis::set makes it an even cut to begin with
};

/// Its place in axes(). Throws InputError at `option` for a key that is no axis, with all of them.
std::size_t axis_named(std::string_view option, const std::string& key);

/// "8", "full", "25 MiB".
std::string text(const SearchAxis& axis, std::int64_t value);
/// The same as the language writes it: "[tensor, data]".
std::string written(const SearchAxis& axis, std::int64_t value);

/// Throws InputError at `option` for text that is none of the axis' values.
std::int64_t read_value(const SearchAxis& axis, std::string_view option, const std::string& text);

}  // namespace stepcast::search
