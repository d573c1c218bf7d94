#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepcast::language {

/// What a training framework's configuration calls something that a scenario has a key for.
struct FrameworkWord {
  std::string_view word;      ///< "micro_batch_size"
  std::string_view key;       ///< of a scenario: "training.micro_batch"
  std::string_view remark{};  ///< what goes into the key, where it is not the same value
};

/// All that are known.
std::span<const FrameworkWord> framework_words();

/// By the word, whatever block it stands in; null: none is known.
const FrameworkWord* framework_word(std::string_view word);

/// How an error ends: "'training.global_batch' for it: micro-batch x data ranks x these steps".
std::string written_here(const FrameworkWord& word);

}  // namespace stepcast::language
