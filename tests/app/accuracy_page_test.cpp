// docs/accuracy.md: the layer of table 4 of Korthikanti et al. 2022 (arXiv 2205.05198), and the largest runs, as they
// are forecast now. STEPCAST_UPDATE_GOLDEN=1 writes both.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "language/questions.h"
#include "schedules/forecast.h"
#include "tests/app/page_block.h"

namespace stepcast::app {
namespace {

struct MeasuredLayer {
  const char* what;
  bool sequence;
  const char* recompute;
  double forward_ms, backward_ms;
};
constexpr MeasuredLayer kLayers[] = {{"no recomputation", false, "none", 7.7, 11.9},
                                     {"no recomputation, sequence parallel", true, "none", 7.2, 11.8},
                                     {"full recomputation", false, "full", 7.7, 19.5},
                                     {"selective", false, "selective", 7.7, 13.2},
                                     {"selective, sequence parallel", true, "selective", 7.2, 13.1}};

TEST(AccuracyPage, OneLayerOfThe22BModel) {
  std::string table =
      "| case | forward measured | predicted | backward measured | predicted |\n"
      "|---|---|---|---|---|\n";
  const auto beside = [](Time predicted, double measured_ms) {
    const double ms = 1e3 * to_seconds(predicted);
    return fmt::format("{:.2f} ({:+.1f}%)", ms, 100 * (ms / measured_ms - 1));
  };
  language::Library library(STEPCAST_SOURCE_DIR "/configs");
  for (const MeasuredLayer& layer : kLayers) {
    const std::vector<std::string> files{STEPCAST_SOURCE_DIR "/scenarios/published/korthikanti_2205_05198.csv"};
    const std::vector<std::string> settings{std::string("parallelism.sequence=") + (layer.sequence ? "true" : "false"),
                                            std::string("recompute=") + layer.recompute};
    const schedules::Forecast f =
        schedules::forecast(language::read_questions(files, settings, library).front().scenario);
    table += fmt::format("| {} | {:.1f} | {} | {:.1f} | {} |\n", layer.what, layer.forward_ms,
                         beside(f.layer_forward.value(), layer.forward_ms), layer.backward_ms,
                         beside(f.layer_backward.value(), layer.backward_ms));
  }
  expect_block("docs/accuracy.md", "layer of 22B", table);
}

}  // namespace
}  // namespace stepcast::app
