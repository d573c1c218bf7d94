#include "app/read/model.h"

namespace stepcast::app {
namespace {

using schedules::Family;
using M = ModelDraft;

constexpr std::int64_t kMostLayers = 100'000;
constexpr std::int64_t kWidest = 100'000'000;

Names families() { return {"gpt", "llama"}; }
Names families_later() { return {"bert", "t5", "moe", "cnn", "mlp", "operators"}; }

}  // namespace

const Table<ModelDraft>& model_table() {
  static const Table<ModelDraft> table(
      "Model", "models",
      {
          {{"name", text_type(), "", "what people call it"}, [](M& m, const Value& v) { m.model.name = v.text; }},
          {{"family", choice(families, families_later), kRequired,
            "gpt: LayerNorm, biases, GELU, learned positions, tied head; llama: RMSNorm, SwiGLU, rotary, untied head"},
           [](M& m, const Value& v) { m.model.family = static_cast<Family>(v.choice); }},
          {{"layers", whole(1, kMostLayers), kRequired, "transformer layers"},
           [](M& m, const Value& v) { m.model.layers = v.whole; }},
          {{"hidden", whole(1, kWidest), kRequired, "width between layers"},
           [](M& m, const Value& v) { m.model.hidden = v.whole; }},
          {{"heads", whole(1, kWidest), kRequired, "attention heads"},
           [](M& m, const Value& v) { m.model.heads = v.whole; }},
          {{"kv_heads", whole(1, kWidest), "heads", "heads of keys and values; fewer than heads: grouped queries"},
           [](M& m, const Value& v) { m.kv_heads = v.whole; }},
          {{"ffn", whole(1, kWidest), "gpt: 4 x hidden", "inner width of the feed-forward block"},
           [](M& m, const Value& v) { m.ffn = v.whole; }},
          {{"vocab", whole(1, kWidest), kRequired, "tokens of the vocabulary"},
           [](M& m, const Value& v) { m.model.vocab = v.whole; }},
          {{"source", text_type(), "", "where the numbers are from"},
           [](M& m, const Value& v) { m.model.source = v.text; }},
      });
  return table;
}

const Schema& model_schema() { return model_table().schema; }

schedules::Model finish(const ModelDraft& draft, const Value& value) {
  schedules::Model model = draft.model;
  if (model.name.empty()) model.name = value.text;
  model.kv_heads = draft.kv_heads.value_or(model.heads);
  if (!draft.ffn && model.family != Family::gpt) {
    fail(value.node->place, join(value.path, "ffn"),
         "missing, expected a whole number of at least 1 (only gpt has a default)");
  }
  model.ffn = draft.ffn.value_or(4 * model.hidden);
  return model;
}

}  // namespace stepcast::app
