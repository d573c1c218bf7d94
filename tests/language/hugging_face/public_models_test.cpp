// Public models from the fields of their config.json have the parameters that are published.

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "language/core/file_text.h"
#include "tests/language/hugging_face/models.h"

namespace stepcast::language {
namespace {

struct PublicModel {
  std::string name;
  double parameters = 0;
  std::string source, config;
};

/// "name | parameters | source | fields", a line each; lines with # say what they are.
std::vector<PublicModel> public_models() {
  constexpr const char* kFile = STEPCAST_SOURCE_DIR "/tests/language/hugging_face/public_models.txt";
  std::istringstream lines(read_file(kFile, kFile));
  std::vector<PublicModel> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (int i = 0; i < 3; ++i) {
      const std::size_t bar = line.find(" | ", start);
      parts.push_back(line.substr(start, bar - start));
      start = bar + 3;
    }
    all.push_back({parts[0], std::stod(parts[1]), parts[2], line.substr(start)});
  }
  return all;
}

TEST(HuggingFacePublicModels, HaveThePublishedParametersWithinHalfAPercent) {
  const std::vector<PublicModel> all = public_models();
  EXPECT_GE(all.size(), 60U);
  int exact = 0;
  for (const PublicModel& each : all) {
    SCOPED_TRACE(each.name + ", " + each.source);
    double found = 0;
    EXPECT_EQ(complaint([&] { found = parameters_of(hugging_face_model(each.config)); }), "");
    EXPECT_NEAR(found / each.parameters, 1, 0.005) << found;
    if (found == each.parameters) ++exact;
  }
  RecordProperty("models", static_cast<int>(all.size()));
  RecordProperty("exact", exact);
  EXPECT_GE(exact, 95);  // to the last parameter; others differ by what stands in docs/hugging-face.md, or are rounded
}

}  // namespace
}  // namespace stepcast::language
