#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

const std::string kTable = "validate scenarios/published/korthikanti_2205_05198.csv ";

TEST(Moved, SaysOldBesideNewForWhatMovedAndNothingElse) {
  const std::string old = testing::TempDir() + "moved-old.csv";
  const Outcome now = run_program(kTable + "--format csv --output '" + old + "'");
  ASSERT_EQ(now.status, 0) << now.err;
  EXPECT_EQ(run_program(kTable + "--against '" + old + "'").out, "0 of 9 predictions moved\n");

  const Outcome slower = run_program(kTable + "--set software.kernel_gap=10us --against '" + old + "'");
  EXPECT_EQ(slower.status, 0) << slower.err;
  EXPECT_TRUE(slower.out.starts_with("9 of 9 predictions moved\n")) << slower.out;
  EXPECT_NE(slower.out.find("old, s"), std::string::npos) << slower.out;
  EXPECT_NE(slower.out.find("KOR-0009"), std::string::npos) << slower.out;
  EXPECT_NE(slower.out.find("old MAPE"), std::string::npos) << slower.out;
}

TEST(Moved, ReadsJsonTooAndSaysWhatIsNoSuchFile) {
  LEFT_TO_RELEASE();
  const std::string old = testing::TempDir() + "moved-old.json";
  ASSERT_EQ(run_program(kTable + "--format json --output '" + old + "'").status, 0);
  EXPECT_EQ(run_program(kTable + "--against '" + old + "'").out, "0 of 9 predictions moved\n");
  for (const auto& [name, text] : {std::pair{"moved-bad.csv", "a,b\n1,2\n"}, std::pair{"moved-bad.json", "{}"},
                                   std::pair{"moved-number.csv", "name,predicted_s\nKOR-0001,fast\n"}}) {
    const std::string bad = testing::TempDir() + name;
    std::ofstream(bad) << text;
    const Outcome outcome = run_program(kTable + "--against '" + bad + "'");
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_NE(outcome.err.find("expected"), std::string::npos) << outcome.err;
  }
}

TEST(Moved, SaysWhereJsonIsNotWhatWasWritten) {
  const std::string bad = testing::TempDir() + "moved-where.json";
  const auto error = [&](const std::string& text) {
    std::ofstream(bad) << text;
    const Outcome outcome = run_program(kTable + "--against '" + bad + "'");
    EXPECT_EQ(outcome.status, 2);
    const std::size_t name = outcome.err.find("moved-where.json");
    return name == std::string::npos ? outcome.err : outcome.err.substr(name);
  };
  const std::string written = ", expected what validate --format json writes\n";
  EXPECT_EQ(error("{\"rows\": [\n\"\xff\"]}"),
            "moved-where.json:2:2: found bytes that are not UTF-8, expected UTF-8 text\n");
  EXPECT_EQ(error("{\"rows\": ["), "moved-where.json:1:11: found no JSON: the file breaks off here\n");
  const std::string digits(1000, '1');
  EXPECT_EQ(error("[" + digits + "]"),
            "moved-where.json:1:2: found a number that is too large, '11111111111111111111', expected one of at most "
            "1.8e308\n");
  EXPECT_EQ(error("[]"), "moved-where.json: found no list 'rows'" + written);
  EXPECT_EQ(error("{\"rows\": [{\"table\": 1}]}"), "moved-where.json: rows[0].table: found no text" + written);
  EXPECT_EQ(error(R"({"rows": [{"table": "a", "name": "b", "predicted_s": "c"}]})"),
            "moved-where.json: rows[0].predicted_s: found no number" + written);
}

}  // namespace
}  // namespace stepcast::app
