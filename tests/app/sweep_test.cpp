// `stepcast sweep` and `stepcast merge`. STEPCAST_UPDATE_GOLDEN=1 app_tests --gtest_filter='Sweep*' rewrites
// tests/golden/sweep.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/progress.h"
#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kQuickstart = std::string(STEPCAST_SOURCE_DIR) + "/scenarios/quickstart.yaml";
/// 16 plans: some fit, some do not, and some do not multiply to 64 GPUs.
const std::string kPlans = "sweep " + kQuickstart +
                           " --axis parallelism.tensor=4,8 --axis parallelism.pipeline=4:32:x2 --axis "
                           "recompute=none,full --set parallelism.data=";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

class Sweep : public testing::Test {
 protected:
  Sweep() : folder_(fs::temp_directory_path() / ("stepcast-sweep-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Sweep() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  Outcome run(const std::string& words) const { return run_program(words, folder_.string()); }

  /// What a sweep writes to a file, with its status.
  std::string rows_of(const std::string& words, const std::string& name) const {
    fs::remove(file(name));
    const Outcome outcome = run(words + " --output " + name);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return read_text(file(name));
  }

  fs::path folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Without the mark, which holds the files of configs/, too.
std::string unmarked(std::string rows) {
  const std::size_t end = rows.find_last_of("0123456789abcdef");
  const std::string mark = rows.substr(end - 15, 16);
  for (std::size_t at = rows.find(mark); at != std::string::npos; at = rows.find(mark)) rows.replace(at, 16, "MARK");
  return rows;
}

TEST_F(Sweep, EachRowIsWhatRunSaysOfThatPoint) {
  LEFT_TO_RELEASE();
  std::size_t forecasts = 0;
  for (const std::string& line : lines_of(run(kPlans + " --format jsonl").out)) {
    const auto row = nlohmann::json::parse(line);
    std::string settings = " --set parallelism.data=";
    for (const auto& [key, value] : row["settings"].items())
      settings += " --set " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    const Outcome one = run_program(joined({"run --format json --simulate fitting ", kQuickstart, settings}));
    if (one.status == 2) {
      EXPECT_EQ(row["fits"], nullptr);
      EXPECT_EQ(row["error"].get<std::string>() + "\n", one.err);
      continue;
    }
    const auto result = nlohmann::json::parse(one.out)["results"][0];
    for (const char* const key : {"step_time_s", "peak_memory_bytes"}) EXPECT_EQ(row[key], result[key]) << settings;
    if (row["fits"] == true) {
      EXPECT_EQ(row["error"], nullptr);
      EXPECT_EQ(row["mfu"], result["mfu"]);
      ++forecasts;
    } else {
      EXPECT_THAT(result["error"].get<std::string>(), StartsWith(row["error"].get<std::string>()));
    }
  }
  EXPECT_GE(forecasts, 2u);
}

TEST_F(Sweep, RowsAndDrawingsAreAsTheyWere) {
  const std::string golden = STEPCAST_SOURCE_DIR "/tests/golden/sweep/", few = kPlans + " --simulate none";
  expect_golden(golden + "plans.txt", run(few).out);
  expect_golden(golden + "plans.csv", unmarked(run(few + " --format csv").out));
  expect_golden(golden + "plans.jsonl", unmarked(run(few + " --format jsonl").out));
  run(few + " --plot-of peak_memory_bytes --plot memory.svg");
  expect_golden(golden + "heat-map.svg", read_text(file("memory.svg")));
  run(few + " --plot-of peak_memory_bytes --plot-as curves --plot curves.svg");
  expect_golden(golden + "curves.svg", read_text(file("curves.svg")));
}

TEST_F(Sweep, DrawingsOfOneAxisAreCurvesAndPngIsPng) {
  const std::string one = "sweep " + kQuickstart + " --axis training.global_batch=64:256:64";
  EXPECT_EQ(run(one + " --plot one.svg --plot two.png").status, 2);
  EXPECT_EQ(run(one + " --plot one.svg").status, 0);
  EXPECT_THAT(read_text(file("one.svg")), HasSubstr("<path d=\"M"));
  EXPECT_EQ(run(one + " --plot one.png").status, 0);
  EXPECT_THAT(read_text(file("one.png")), StartsWith("\x89PNG"));
  EXPECT_EQ(run(one + " --plot one.svg --plot-as heat-map").err,
            "--plot-as: found 'heat-map' of one axis, expected two or more\n");
}

TEST_F(Sweep, BytesAreTheSameOnOneAndEightThreads) {
  const std::string many = kPlans + " --axis training.micro_batch=1,2,4 --format jsonl --threads ";
  const std::string one = run(many + "1").out;
  EXPECT_EQ(lines_of(one).size(), 48u);
  EXPECT_EQ(run(many + "8").out, one);
}

TEST_F(Sweep, CutOffAnywhereItGoesOnToTheSameBytes) {
  constexpr std::size_t kStride = test::kSanitized ? 2003 : 331;
  for (const std::string name : {"rows.csv", "rows.jsonl"}) {
    const std::string whole = rows_of(kPlans, name);
    ASSERT_GT(whole.size(), 1000u);
    for (std::size_t cut = 0; cut <= whole.size(); cut += cut < 40 ? 7 : kStride) {
      written(name, whole.substr(0, cut));
      EXPECT_EQ(run(joined({kPlans, " --output ", name})).status, 0);
      ASSERT_EQ(read_text(file(name)), whole) << name << " cut at " << cut;
    }
  }
}

TEST_F(Sweep, RowsThatAreThereStayAndAreNotMadeAgain) {
  std::string whole = rows_of(kPlans + " --simulate none", "rows.csv");
  const std::size_t at = whole.find("out of memory");
  ASSERT_NE(at, std::string::npos);
  const std::string changed = whole.replace(at, 13, "OUT OF MEMORY");
  const std::size_t half = changed.find('\n', changed.size() / 2);
  written("rows.csv", changed.substr(0, half + 1));
  EXPECT_EQ(run(kPlans + " --simulate none --output rows.csv").status, 0);
  EXPECT_EQ(read_text(file("rows.csv")), changed);
}

TEST_F(Sweep, KilledHalfWayItLosesNothingAndHasNothingTwice) {
  const std::string many =
      kPlans + " --axis training.global_batch=64:576:64 --axis training.sequence=1024,2048 --simulate all --threads 2";
  const std::string whole = rows_of(many, "whole.csv");
  const std::size_t all = lines_of(whole).size();
  const Outcome killed = run_script("$stepcast " + many +
                                        " --output rows.csv &\n"
                                        "until [ \"$(wc -l < rows.csv 2>/dev/null || echo 0)\" -gt 40 ]; do :; done\n"
                                        "kill -9 $!\nwait $! 2>/dev/null\nwc -l < rows.csv",
                                    folder_.string());
  const std::size_t before = std::stoul(killed.out);
  EXPECT_GT(before, 40u);
  EXPECT_LT(before, all) << "it ended before it was killed";
  EXPECT_EQ(whole.substr(0, read_text(file("rows.csv")).size()), read_text(file("rows.csv")));
  std::ofstream(file("rows.csv"), std::ios::app) << before << ",4,4";  // a row that broke off
  EXPECT_EQ(run(many + " --output rows.csv").status, 0);
  EXPECT_EQ(read_text(file("rows.csv")), whole);
}

TEST_F(Sweep, FourShardsMergeToTheBytesOfTheWhole) {
  for (const std::string& filter : {std::string(), std::string(" --where fits"), std::string(" --where 'mfu>2'")})
    for (const std::string ending : {"csv", "jsonl"}) {
      if (test::passed_over()) continue;
      const std::string whole = rows_of(kPlans + filter, "whole." + ending);
      std::string files;
      for (const char* const shard : {"3", "1", "4", "2"}) {
        const std::string name = std::string("shard-") + shard + "." + ending;
        rows_of(kPlans + filter + " --shard " + shard + "/4", name);
        files += " " + name;
      }
      const Outcome merged = run(joined({"merge", files, " --output merged.", ending}));
      EXPECT_EQ(merged.status, 0) << merged.err;
      EXPECT_EQ(read_text(file("merged." + ending)), whole) << filter;
    }
}

TEST_F(Sweep, AMergedFileIsTheSweepsAndNothingIsForecastAgain) {
  rows_of(kPlans + " --shard 1/2", "1.csv");
  rows_of(kPlans + " --shard 2/2", "2.csv");
  ASSERT_EQ(run("merge 1.csv 2.csv --output rows.csv").status, 0);
  const std::string merged = read_text(file("rows.csv"));
  EXPECT_EQ(run(kPlans + " --output rows.csv --plot plans.svg").status, 0);
  EXPECT_EQ(read_text(file("rows.csv")), merged);
  EXPECT_THAT(read_text(file("plans.svg")), HasSubstr("too large"));
}

TEST_F(Sweep, AShardGoesOnTooAndKnowsItsEnd) {
  const std::string shard = kPlans + " --shard 2/3", whole = rows_of(shard, "2.csv");
  for (std::size_t cut = 1; cut <= whole.size(); cut += 397) {
    written("2.csv", whole.substr(0, whole.size() - cut));
    EXPECT_EQ(run(shard + " --output 2.csv").status, 0);
    ASSERT_EQ(read_text(file("2.csv")), whole) << cut;
  }
  EXPECT_EQ(run(shard + " --output 2.csv").status, 0);
  EXPECT_EQ(read_text(file("2.csv")), whole);
  EXPECT_THAT(run(kPlans + " --shard 1/3 --output 2.csv").err, HasSubstr("which holds rows of another shard"));
  EXPECT_THAT(run(kPlans + " --output 2.csv").err, HasSubstr("which holds "));
  EXPECT_EQ(read_text(file("2.csv")), whole);
}

TEST_F(Sweep, MergeRefusesWhatWouldNotBeTheWhole) {
  for (const char* const shard : {"1", "2"}) rows_of(kPlans + " --shard " + shard + "/2", std::string(shard) + ".csv");
  rows_of(kPlans + " --simulate none --shard 2/2", "other.csv");
  rows_of(kPlans + " --format jsonl --shard 2/2", "2.jsonl");
  rows_of(kPlans, "whole.csv");
  const std::string rows = read_text(file("2.csv"));
  written("cut.csv", rows.substr(0, rows.size() - 3));
  written("unended.csv", rows.substr(0, rows.rfind('\n', rows.size() - 2) + 1));
  std::string damaged = rows;
  damaged.replace(damaged.find("\n4,"), 3, "\n5,");
  written("damaged.csv", damaged);
  const auto error = [&](const std::string& files) {
    const Outcome outcome = run("merge " + files);
    EXPECT_EQ(outcome.status, 2) << files;
    EXPECT_EQ(outcome.out, "") << files;
    return outcome.err;
  };
  EXPECT_EQ(error(""), "stepcast merge: no file given, expected those of all shards of a sweep\n");
  EXPECT_EQ(error("1.csv"), "stepcast merge: found no shard 2/2, expected all of them\n");
  EXPECT_EQ(error("1.csv 2.csv 1.csv"), "1.csv: found shard 1/2, which 1.csv is too, expected it once\n");
  EXPECT_EQ(error("1.csv 2.jsonl"), "2.jsonl: found rows as JSON lines, expected CSV, as those of 1.csv are\n");
  EXPECT_THAT(error("1.csv other.csv"), StartsWith("other.csv: found shard 2/2 of the sweep "));
  EXPECT_THAT(error("1.csv cut.csv"), StartsWith("cut.csv: found no rows of a sweep, or a last one that broke off"));
  EXPECT_THAT(error("1.csv unended.csv"), StartsWith("unended.csv: found no end behind the rows"));
  EXPECT_THAT(error("1.csv whole.csv"), StartsWith("whole.csv: found no end behind the rows"));
  EXPECT_THAT(error("1.csv damaged.csv"), HasSubstr("expected a row of shard 2/2"));
  EXPECT_THAT(error("nowhere.csv"), HasSubstr("nowhere.csv"));
  EXPECT_THAT(error(kQuickstart), HasSubstr("found no rows of a sweep"));
  EXPECT_THAT(error("1.csv 2.csv --output 2.csv"), HasSubstr("which is read as '2.csv'"));
}

TEST_F(Sweep, AFileOfAnotherSweepOrOfAnythingElseIsRefusedAndStays) {
  const std::string whole = rows_of(kPlans + " --simulate none", "rows.csv");
  for (const std::string& other :
       {kPlans, kPlans + " --simulate none --where fits", kPlans + " --simulate none --set training.sequence=1024"}) {
    const Outcome outcome = run(other + " --output rows.csv");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, StartsWith("--output: found 'rows.csv', which holds rows of another sweep ("));
  }
  EXPECT_THAT(run(kPlans + " --axis training.micro_batch=1,2 --output rows.csv").err,
              HasSubstr("which does not begin with the columns of this sweep"));
  EXPECT_EQ(read_text(file("rows.csv")), whole);
  // Without --where each point has its row.
  const std::size_t third = whole.find('\n', whole.find('\n') + 1) + 1;
  const std::string hole = whole.substr(0, third) + whole.substr(whole.find('\n', third) + 1);
  written("rows.csv", hole);
  EXPECT_THAT(run(kPlans + " --simulate none --output rows.csv").err, HasSubstr("which holds no row of point 2,"));
  EXPECT_EQ(read_text(file("rows.csv")), hole);
  for (const std::string& text : {std::string("a,b\n1,2\n"), std::string("my notes"), std::string("{\"name\": \"x\"}"),
                                  std::string("{\"name\": \"x\"}\n"), std::string("\n"), whole + "x\n",
                                  whole + whole.substr(whole.find('\n') + 1)})
    for (const std::string name : {"mine.csv", "mine.jsonl"}) {
      written(name, text);
      const Outcome outcome = run(joined({kPlans, " --simulate none --output ", name}));
      EXPECT_EQ(outcome.status, 2) << text;
      EXPECT_THAT(outcome.err, StartsWith("--output: found '" + name + "', which ")) << text;
      EXPECT_EQ(read_text(file(name)), text);
    }
}

TEST_F(Sweep, TheMarkIsOfWhatIsAskedNotOfWhereOrHow) {
  const auto mark = [&](const std::string& words) {
    const std::string out = run(words + " --format csv").out;
    return out.substr(out.rfind(',') + 1, 16);
  };
  const std::string text = read_text(kQuickstart), axis = " --axis recompute=none,full --simulate none";
  written("a.yaml", text);
  fs::create_directories(folder_ / "b");
  written("b/c.yaml", text);
  const std::string own = written("own.yaml", "base: gpt3-175b\n");
  const std::string first = mark("sweep a.yaml" + axis);
  EXPECT_EQ(mark("sweep b/c.yaml" + axis + " --threads 1"), first);
  EXPECT_EQ(mark("sweep - <a.yaml" + axis), first);
  EXPECT_EQ(mark("sweep a.yaml --axis recompute=none,full --axis model=gpt3-175b --simulate none").size(), 16u);
  EXPECT_NE(mark("sweep a.yaml --axis recompute=full,none --simulate none"), first);
  EXPECT_NE(mark("sweep a.yaml" + axis + " --set training.sequence=1024"), first);
  const std::string models = "sweep a.yaml --axis model=gpt3-175b," + own + " --simulate none", before = mark(models);
  written("own.yaml", "base: gpt3-175b\nlayers: 48\n");
  EXPECT_NE(mark(models), before) << "a file that an axis names has changed";
}

TEST_F(Sweep, ConditionsLeaveOutPointsByKeysPlansAndResults) {
  const auto points = [&](const std::string& condition) {
    std::string numbers;
    for (const std::string& line : lines_of(run(joined({kPlans, " --format csv --where '", condition, "'"})).out))
      if (!line.starts_with("point")) numbers += line.substr(0, line.find(',')) + " ";
    return numbers;
  };
  EXPECT_EQ(points("parallelism.tensor*parallelism.pipeline<=16"), "1 2 ");
  EXPECT_EQ(points("recompute=full and parallelism.pipeline>=16"), "6 8 14 16 ");
  EXPECT_EQ(points("parallelism.data>=2"), "1 2 3 4 9 10 ");
  EXPECT_EQ(points("cluster.nodes=8 and parallelism.tensor=4 and parallelism.pipeline=4"), "1 2 ");
  EXPECT_EQ(points("parallelism.data=1 and peak_memory_bytes<=60 GiB and fits"),
            points("parallelism.data=1 and peak_memory_bytes<=60 GiB"));
  EXPECT_EQ(points("step_time_s>0 and fits=false"), points("step_time_s>0 s and peak_memory_bytes > 80 GiB"));
  EXPECT_EQ(points("fits or 1=1"), points("1=1"));
  EXPECT_EQ(points("1=2"), "");
}

TEST_F(Sweep, StatusesTellWhatBecameOfThePoints) {
  const std::string tensor =
      "sweep " + kQuickstart + " --set parallelism.data= --simulate none --axis parallelism.tensor=";
  EXPECT_EQ(run(tensor + "3,8").status, 0);
  EXPECT_EQ(run(tensor + "1,2").status, 3);
  EXPECT_EQ(run(tensor + "1,2 --format csv --shard 1/1").status, 0);
  const Outcome none = run(tensor + "3,5 --format csv");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, StartsWith("2 points: 0 fit, 2 cannot run; the first that cannot run: "));
  EXPECT_EQ(run(tensor + "8 --format csv").err, "") << "no progress where nobody watches";
  EXPECT_THAT(run(tensor + "3,8").out, HasSubstr("\n2 points: 1 fits, 1 cannot run\n"));
}

TEST_F(Sweep, WhatCannotBeWrittenIsAFailure) {
  const Outcome full = run(kPlans + " --format csv --output /dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.err, "stepcast: cannot write /dev/full: No space left on device\n");
  const Outcome nowhere = run(kPlans + " --output nowhere/rows.csv");
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_EQ(nowhere.err, "stepcast: cannot write nowhere/rows.csv: No such file or directory\n");
}

TEST_F(Sweep, TwoDoNotWriteOneFile) {
  const Outcome both =
      run_script("exec 9>>rows.csv; flock 9; $stepcast " + kPlans + " --output rows.csv", folder_.string());
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("found 'rows.csv', which another stepcast writes, expected it to end first"));
  EXPECT_EQ(read_text(file("rows.csv")), "");
}

TEST_F(Sweep, OptionsThatCannotBeMeantAreNamed) {
  const std::string axis = "sweep " + kQuickstart + " --axis recompute=none,full ";
  const auto error = [&](const std::string& words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2) << words;
    return outcome.err;
  };
  EXPECT_EQ(error("sweep"), "stepcast sweep: no scenario given; try scenarios/quickstart.yaml\n");
  EXPECT_EQ(error("sweep " + kQuickstart),
            "stepcast sweep: no axis given, expected one such as --axis parallelism.tensor=1,2,4,8\n");
  EXPECT_EQ(error(axis + kQuickstart), "stepcast sweep: found 2 scenarios, expected one\n");
  EXPECT_THAT(error("sweep runs.csv --axis recompute=none"), HasSubstr("expected one scenario (.yaml, .yml, .json)"));
  written("runs.csv", "model\nx\n");
  EXPECT_THAT(error("sweep runs.csv --axis recompute=none"), HasSubstr("expected one scenario (.yaml, .yml, .json)"));
  EXPECT_THAT(error("sweep . --axis recompute=none"), HasSubstr("found a folder, expected one scenario"));
  EXPECT_EQ(error(axis + "--format json"),
            "--format: found 'json', expected one of table, csv, jsonl; did you mean 'jsonl'?\n");
  EXPECT_EQ(error(axis + "--simulate some"), "--simulate: found 'some', expected one of all, fitting, none\n");
  EXPECT_EQ(error(axis + "--shard 1/2"), "--shard: found 1/2 beside a table, expected --format csv or jsonl\n");
  EXPECT_EQ(error(axis + "--shard 3/2 --format csv"),
            "--shard: found '3/2', expected I/N, from 1/N to N/N, N at most 100000\n");
  EXPECT_EQ(error(axis + "--shard 1/2 --format csv --plot x.svg"),
            "--plot: found with --shard, of a part of the points, which makes nothing of it; expected it left out\n");
  EXPECT_EQ(error(axis + "--set recompute=full"),
            "--set: found 'recompute=full' beside an axis of that key, expected one of the two\n");
  EXPECT_EQ(error(axis + "--plot x.pdf"), "--plot: found 'x.pdf', expected a name that ends with .svg or .png\n");
  EXPECT_EQ(error(axis + "--plot-of mfu"), "--plot-of: found without --plot, expected it\n");
  EXPECT_THAT(error(axis + "--plot x.svg --plot-of speed"), StartsWith("--plot-of: found 'speed', expected one of "));
  EXPECT_THAT(error(axis + "--plot-as pie --plot x.svg"), StartsWith("--plot-as: found 'pie'"));
  EXPECT_THAT(error(axis + "--plot x.svg --output x.svg"), HasSubstr("which is where --output goes too"));
  EXPECT_THAT(error(axis + "--output " + kQuickstart), HasSubstr("which is read as"));
  EXPECT_THAT(error(axis + "--where pipeline.virtual_stags=1"), HasSubstr("did you mean 'pipeline.virtual_stages'"));
  EXPECT_THAT(error(axis + "--where 'recompute.every=2'"), HasSubstr("which the axis recompute changes"));
  EXPECT_THAT(error(axis + "--where 'offload.optimizer=host'"),
              HasSubstr("which neither the scenario nor an axis gives"));
  EXPECT_THAT(error("sweep " + kQuickstart + " --axis model=gpt3-176b"), HasSubstr("did you mean 'gpt3-175b'"));
}

TEST_F(Sweep, AKeyThatTheScenarioLacksMayComeFromAnAxis) {
  std::string text = read_text(kQuickstart);
  const std::size_t at = text.find("  micro_batch:");
  text.erase(at, text.find('\n', at) - at + 1);
  written("lacks.yaml", text);
  EXPECT_EQ(run("run lacks.yaml").status, 2);
  const std::string rows = run("sweep lacks.yaml --axis training.micro_batch=1,2 --format csv").out;
  EXPECT_EQ(rows, run("sweep lacks.yaml --axis training.micro_batch=1:2 --format csv").out);
  EXPECT_EQ(lines_of(rows).size(), 3u);
  EXPECT_EQ(rows.find("missing"), std::string::npos) << rows;
}

TEST(ProgressText, SaysTheRateAndWhatIsLeft) {
  EXPECT_EQ(progress_text(0, 100, 0, 0), "0 of 100");
  EXPECT_EQ(progress_text(50, 100, 0, 5), "50 of 100, 10 a second, 5 s left");
  EXPECT_EQ(progress_text(60, 100, 50, 5), "60 of 100, 2 a second, 20 s left");
  EXPECT_EQ(progress_text(1000, 1'000'000, 0, 1), "1000 of 1000000, 1000 a second, 17 min left");
  EXPECT_EQ(progress_text(10, 100'000, 0, 10), "10 of 100000, 1 a second, 27.8 h left");
}

}  // namespace
}  // namespace stepcast::app
