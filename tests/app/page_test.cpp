// --report and `stepcast report`. tests/app/report_in_chromium.sh opens such pages in a browser.

#include "app/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "app/report/base64.h"
#include "app/report/page_part.h"
#include "app/report/stretch_rows.h"
#include "sim/input_error.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using PageJson = nlohmann::json;

class Page : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_page_template()) GTEST_SKIP() << "built without Node.js: there is no page";
    folder_ = std::filesystem::temp_directory_path() / ("stepcast-page-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  std::filesystem::path folder_;
};

/// The results that a page holds.
PageJson results_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"results\">";
  const std::size_t at = page.find(begin) + begin.size();
  return PageJson::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST_F(Page, HoldsTheForecastAsJsonDoesAndAllThatIsDrawn) {
  const Outcome outcome = run_program("run scenarios/quickstart.yaml --format json --report " + file("run.html"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const PageJson part = results_of(read_text(file("run.html")))["parts"][0];
  EXPECT_EQ(part["kind"], "run");
  EXPECT_EQ(part["document"], PageJson::parse(outcome.out));
  const PageJson& step = part["document"]["results"][0];
  EXPECT_EQ(part["detail"]["step_s"], step["step_time_s"]);
  for (const PageJson& stage : part["detail"]["stages"]) {
    const PageJson& time = step["stages"][stage["stage"].get<std::size_t>()]["time_s"];
    EXPECT_EQ(stage["compute_s"], time["compute"]);
    EXPECT_EQ(stage["more_compute_s"], 0.0);
  }
  EXPECT_EQ(part["detail"]["stretches"]["rows"].size(),
            18u);  // compute and sends of eight stages, tied embeddings of two
}

TEST_F(Page, IsTheSameOnAnyThreads) {
  const auto made = [&](const std::string& threads) {
    const Outcome outcome =
        run_program("run scenarios/quickstart.yaml --threads " + threads + " --report " + file("run.html"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return read_text(file("run.html"));
  };
  EXPECT_EQ(made("1"), made("4"));
}

TEST_F(Page, StaysBelowFiveMegabytesForThousandsOfGpus) {
  LEFT_TO_RELEASE();
  const Outcome outcome = run_program("run scenarios/gpt-1t-3072.yaml --report " + file("large.html"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(std::filesystem::file_size(file("large.html")), 5'000'000u);
}

TEST_F(Page, HasAStrictPolicyAndNothingOfANameIsMarkup) {
  const std::string name = "</script><script>alert(1)</script><!--<script> \"quotes' & <img src=x>";
  const PagePart part{.kind = "run", .title = name, .document = PageJson{{"results", {{{"name", name}}}}}.dump()};
  const std::string page = html_page({&part, 1});
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(results_of(page)["parts"][0]["document"]["results"][0]["name"], name);
}

TEST_F(Page, HasSeveralResults) {
  const std::string run = "run scenarios/quickstart.yaml --format json --output " + file("a.json");
  ASSERT_EQ(run_program(run).status, 0);
  ASSERT_EQ(run_program("collective --node dgx-a100-80gb --sizes 1MiB --format json --output " + file("b.json")).status,
            0);
  write("c.jsonl", "{\"point\":1,\"settings\":{\"parallelism.tensor\":1},\"step_time_s\":1.0,\"fits\":true}\n");
  const Outcome outcome = run_program("report " + file("a.json") + " " + file("b.json") + " " + file("c.jsonl") +
                                      " --output " + file("all.html"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const PageJson parts = results_of(read_text(file("all.html")))["parts"];
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0]["kind"], "run");
  EXPECT_EQ(parts[1]["kind"], "collective");
  EXPECT_EQ(parts[2]["kind"], "sweep");
}

TEST_F(Page, OfADifferenceHasBothSidesWithAllThatIsDrawn) {
  LEFT_TO_RELEASE();
  const Outcome outcome = run_program("diff scenarios/quickstart.yaml --set-b recompute=full --format json --output " +
                                      file("diff.json") + " --report " + file("diff.html"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const PageJson parts = results_of(read_text(file("diff.html")))["parts"];
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0]["kind"], "diff");
  EXPECT_EQ(parts[0]["document"], PageJson::parse(read_text(file("diff.json"))));
  EXPECT_EQ(parts[0]["detail"], (PageJson{{"a", 1}, {"b", 2}}));
  for (const std::string side : {"a", "b"}) {
    const PageJson& part = parts[parts[0]["detail"][side].get<std::size_t>()];
    EXPECT_EQ(part["kind"], "run");
    EXPECT_EQ(part["document"]["results"][0]["plan"], parts[0]["document"][side]["plan"]);
    EXPECT_EQ(part["detail"]["step_s"], parts[0]["document"][side]["step_time_s"]);
  }
}

TEST_F(Page, OfADifferenceThatWasKeptHasNoSides) {
  ASSERT_EQ(
      run_program("diff scenarios/quickstart.yaml --set-b recompute=full --format json --output " + file("d.json"))
          .status,
      0);
  const Outcome outcome = run_program("report " + file("d.json") + " --output " + file("kept.html"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const PageJson parts = results_of(read_text(file("kept.html")))["parts"];
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0]["kind"], "diff");
  EXPECT_TRUE(parts[0]["detail"].is_null());
}

TEST_F(Page, SaysWhatIsWrongWithAFile) {
  write("list.json", "[1, 2]");
  write("other.json", "{\"results\": 5}");
  write("text.json", "a table\n");
  write("empty.json", "");
  write("deep.json", "{\"points\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  for (const char* const name : {"list.json", "other.json", "text.json", "empty.json", "deep.json"}) {
    const Outcome outcome = run_program("report " + file(name) + " --output " + file("out.html"));
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr(name));
    EXPECT_THAT(outcome.err, HasSubstr("expected"));
    EXPECT_FALSE(std::filesystem::exists(file("out.html")));
  }
  const Outcome ending = run_program("run scenarios/quickstart.yaml --report " + file("page.txt"));
  EXPECT_EQ(ending.status, 2);
  EXPECT_THAT(ending.err, HasSubstr(".html"));
}

TEST(Base64, IsThatOfTheStandard) {
  const auto of = [](const std::string& text) {
    return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

// Two alike forward passes, too few to be a kind, and one that begins 1 us later: written out where they stand.
TEST(StretchRows, AreWrittenAsTheirHeaderSays) {
  const std::vector<schedules::Stretched> two{
      {.doing = schedules::Doing::forward, .micro_batch = 0, .start = picoseconds(0), .duration = picoseconds(5000)},
      {.doing = schedules::Doing::forward,
       .micro_batch = 1,
       .start = picoseconds(1'005'000),
       .duration = picoseconds(5000)}};
  const auto rows = stretch_rows(two);
  const std::vector<std::uint8_t> packed{0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5, 2, 0xd0, 0x0f};
  EXPECT_TRUE(rows["kinds"].empty());
  EXPECT_EQ(rows["rows"][0]["packed"], base64(packed));
  EXPECT_TRUE(rows["until_ns"].is_null());
}

}  // namespace
}  // namespace stepcast::app
