// Any bytes as a config.json of the Hugging Face Hub: a model with a layer's parameters, or refused with an InputError.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "language/configs/files.h"
#include "language/configs/model.h"
#include "language/hugging_face/read_config.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "tests/fuzz/refused.h"

namespace {

using namespace stepcast;

constexpr std::int64_t kMostLayers = 200;

schedules::Model model_of(const std::string& text) {
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const language::Node keys = language::read_hugging_face_config(text, "fuzz/config.json");
  language::Value value;
  value.node = &keys;
  value.library = &library;
  return finish(language::read_block(language::model_table(), value), value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  schedules::Scenario scenario;
  if (test::refused([&] { scenario.model = model_of({reinterpret_cast<const char*>(data), size}); })) return 0;
  if (scenario.model.layers > kMostLayers) return 0;
  scenario.training.micro_batch = scenario.training.global_batch = 1;
  if (scenario.model.family == schedules::Family::t5) scenario.training.decoder_sequence = scenario.training.sequence;
  if (!schedules::check(scenario).empty()) return 0;
  const schedules::Blocks blocks = schedules::blocks(scenario);
  const double parameters = schedules::parameters(blocks, schedules::cut(blocks, 1));
  if (!(parameters > 0) || !std::isfinite(parameters)) std::abort();
  return 0;
}
