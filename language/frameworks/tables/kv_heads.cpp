#include "language/frameworks/tables/kv_heads.h"

#include "sim/input_error.h"

namespace stepcast::language {

void check_kv_heads(const Words& words, const Framework& framework, SharedKvHeads shared) {
  if (!words.contains("model.kv_heads")) return;
  const std::int64_t heads = whole_of(words, "model.kv_heads"), tensor = whole_of(words, "parallelism.tensor");
  if (heads % tensor == 0 || (shared == SharedKvHeads::allowed && tensor % heads == 0)) return;
  throw InputError("parallelism.tensor", "found " + std::to_string(tensor) + " ranks for the " + std::to_string(heads) +
                                             " key and value heads of model.kv_heads, which " +
                                             std::string(framework.title) + " cannot be told; expected a divisor of " +
                                             std::to_string(heads) +
                                             (shared == SharedKvHeads::allowed ? ", or a multiple" : ""));
}

}  // namespace stepcast::language
