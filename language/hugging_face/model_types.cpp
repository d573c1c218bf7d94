#include <vector>

#include "language/hugging_face/model_type.h"

namespace stepcast::language {

// Each list stands in a file of families/.
extern const std::span<const ModelType> llama_types, expert_types, hybrid_types, latent_types, gpt_types, encoder_types;

std::span<const ModelType* const> model_types() {
  static const std::vector<const ModelType*> all = [] {
    std::vector<const ModelType*> types;
    for (const std::span<const ModelType> list :
         {llama_types, expert_types, hybrid_types, latent_types, gpt_types, encoder_types})
      for (const ModelType& type : list) types.push_back(&type);
    return types;
  }();
  return all;
}

}  // namespace stepcast::language
