#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;

const Json& published() {
  static const Json all = [] {
    const Outcome outcome = run_program("validate scenarios/published --format json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Json::parse(outcome.out);
  }();
  return all;
}

/// A change that moves a prediction shows here, as the table of what moved. A row that cannot run yet is "-".
TEST(Validate, PredictionsOfEveryPublishedTableAreGolden) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  std::map<std::string, std::string> tables;
  for (const Json& row : published()["rows"]) {
    std::string& table = tables[row["table"].get<std::string>()];
    if (table.empty()) table = "name,predicted_s,error\n";
    const bool known = row["predicted_s"].is_number(), compared = row["error"].is_number();
    table += fmt::format("{},{},{}\n", row["name"].get<std::string>(),
                         known ? fmt::format("{:.4g}", row["predicted_s"].get<double>()) : "-",
                         compared ? fmt::format("{:+.1f}%", 100 * row["error"].get<double>()) : "-");
  }
  ASSERT_EQ(tables.size(), 8u);
  for (const auto& [name, text] : tables) {
    const std::string golden = "tests/golden/published/" + name + ".csv";
    if (std::getenv("STEPCAST_UPDATE_GOLDEN") == nullptr && text != read_text(STEPCAST_SOURCE_DIR "/" + golden)) {
      ADD_FAILURE() << "STEPCAST_UPDATE_GOLDEN=1 accepts this:\n"
                    << run_program("validate scenarios/published/" + name + ".csv --against " + golden).out;
      continue;
    }
    expect_golden(STEPCAST_SOURCE_DIR "/" + golden, text);
  }
}

/// A table of docs/accuracy.md: the mean error it is to have, and its memory's; beyond it stands in bold.
struct Published {
  const char *table, *title;
  double target, memory = 0;
};
constexpr Published kPublished[] = {{"korthikanti_2205_05198", "Korthikanti et al. 2022, A100", 0.06},
                                    {"megatron_sc21", "Megatron-LM SC'21, A100", 0.06},
                                    {"mtnlg_530b", "MT-NLG 530B, A100", 0.06},
                                    {"vtrain_micro24_multi", "vTrain, A100", 0.08},
                                    {"mosaic_llm_foundry", "LLM Foundry, A100 and H100", 0.08},
                                    {"simumax_b200_itertime", "SimuMax, B200", 0.06, 0.02},
                                    {"dlperf_v100_gpt", "DLPerf GPT, V100", 0.12},
                                    {"dlperf_v100_resnet_bert", "DLPerf ResNet-50 and BERT, V100", 0.1}};
constexpr double kLeastCorrelation = 0.95;
constexpr int kRanked = 10;  // rows that a correlation is asked of

std::string bold(const std::string& text, bool is) { return is ? "**" + text + "**" : text; }

std::vector<std::string> cells_of_row(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line.substr(2));
  for (std::string cell; std::getline(text, cell, '|');) {
    const std::size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
    cells.push_back(cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return cells;
}

/// A page as `visit` leaves the rows of its tables, each given with the head of its table.
template <class Visit>
std::string with_rows(const std::string& page, const Visit& visit) {
  std::string out;
  std::vector<std::string> head;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line); out += line + "\n") {
    if (!line.starts_with("| ")) {
      if (!line.starts_with("|")) head.clear();
    } else if (head.empty()) {
      head = cells_of_row(line);
    } else {
      visit(head, line);
    }
  }
  return out;
}

/// A page with what is predicted now in its tables whose first column names measured runs: "KOR-0001", or "MCH-0002,
/// 7.1B". `found`: how many rows those tables have.
std::string with_predictions(const std::string& page, const std::map<std::string, Json>& runs, std::size_t& found) {
  return with_rows(page, [&](const std::vector<std::string>& head, std::string& line) {
    std::vector<std::string> cells = cells_of_row(line);
    const auto run = runs.find(cells[0].substr(0, cells[0].find(',')));
    if (run == runs.end() || cells.size() != head.size() || std::ranges::find(head, "error") == head.end()) return;
    ++found;
    line = "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (head[i].starts_with("predicted"))
        cells[i] =
            fmt::format("{:.4g}{}", run->second["predicted_s"].get<double>(), cells[i].ends_with(" s") ? " s" : "");
      if (head[i] == "error") cells[i] = fmt::format("{:+.1f}%", 100 * run->second["error"].get<double>());
      line += " " + cells[i] + " |";
    }
  });
}

/// Of a page's rows of Megatron-Bridge (NMB-) the mean of the errors with their signs, by model and precision, and GPU.
std::string bridge_by_gpu(const std::string& page) {
  const std::array<std::string, 3> kinds{"Llama in 8 bits", "Llama in NVFP4", "DeepSeek-V3"};
  const std::array<std::string, 5> gpus{"H100", "B200", "B300", "GB200", "GB300"};
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  with_rows(page, [&](const std::vector<std::string>& head, const std::string& line) {
    const std::vector<std::string> cells = cells_of_row(line);
    const auto cell = [&](const std::string& column) {
      const auto at = static_cast<std::size_t>(std::ranges::find(head, column) - head.begin());
      return at < std::min(head.size(), cells.size()) ? cells[at] : std::string();
    };
    if (!cells[0].starts_with("NMB-") || cell("precision").empty() || !cell("trained").empty()) return;
    const std::string& kind = cell("model").starts_with("DeepSeek") ? kinds[2] : kinds[cell("precision") == "nvfp4"];
    const std::string gpu = cell("GPUs").substr(cell("GPUs").find(' ') + 1);  // "64 GB200, CUDA graph"
    errors[{kind, gpu.substr(0, gpu.find(','))}].push_back(std::stod(cell("error")));
  });
  std::string text = fmt::format("| | {} |\n|---|{}\n", fmt::join(gpus, " | "), "--:|--:|--:|--:|--:|");
  for (const std::string& kind : kinds) {
    text += "| " + kind + " |";
    for (const std::string& gpu : gpus) {
      const std::vector<double>& all = errors[{kind, gpu}];
      const double sum = std::accumulate(all.begin(), all.end(), 0.0);
      text += all.empty() ? " |" : fmt::format(" {:+.1f}% |", sum / static_cast<double>(all.size()));
    }
    text += "\n";
  }
  return text;
}

/// Tables whose plans are partly assumed: as they come out, beside a model that knows one rate of each.
TEST(Validate, ThePageOfAccuracyHasTheAssumedTablesAndEachRunAsItIsPredicted) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every table with sanitizers";
  const Outcome outcome = run_program("validate scenarios/assumed --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  std::string tables =
      "| table | rows | mean absolute error | median | rank correlation | null model | in a band without the table |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  double within = 0, rows = 0;
  for (const Json& t : told["tables"]) {
    if (t["mape"].is_null()) {  // memory alone
      tables += fmt::format("| {} | {} | - | - | - | - | - |\n", t["table"].get<std::string>(), t["rows"].get<int>());
      continue;
    }
    tables += fmt::format("| {} | {} | {:.1f}% | {:+.1f}% | {:.3f} | {:.1f}% | {:.0f}% |\n",
                          t["table"].get<std::string>(), t["rows"].get<int>(), 100 * t["mape"].get<double>(),
                          100 * t["median_error"].get<double>(), t["rank_correlation"].get<double>(),
                          100 * t["null_mape"].get<double>(), 100 * t["in_band_as_new_table"].get<double>());
  }
  for (const Json* all : {&told["tables"], &published()["tables"]})
    for (const Json& t : *all) {
      if (t["in_band_as_new_table"].is_null()) continue;
      within += t["in_band_as_new_table"].get<double>() * t["rows"].get<double>();
      rows += t["rows"].get<double>();
    }
  tables += fmt::format("| published and assumed rows | {:.0f} | | | | | {:.0f}% |\n", rows, 100 * within / rows);
  EXPECT_GE(within / rows, 0.75) << "80 % is what a band says";
  EXPECT_LE(within / rows, 0.85);
  expect_block("docs/accuracy.md", "assumed tables", tables);

  std::map<std::string, Json> runs;
  for (const Json* all : {&told["rows"], &published()["rows"]})
    for (const Json& run : *all)
      if (run["error"].is_number()) runs[run["name"].get<std::string>()] = run;
  const std::string page = read_text(STEPCAST_SOURCE_DIR "/docs/accuracy.md");
  std::size_t found = 0;
  const std::string now = with_predictions(page, runs, found);
  EXPECT_GT(found, 140u) << "rows of the page's tables";
  if (std::getenv("STEPCAST_UPDATE_GOLDEN") != nullptr)
    std::ofstream(STEPCAST_SOURCE_DIR "/docs/accuracy.md") << now;
  else
    EXPECT_EQ(page, now) << "rows of docs/accuracy.md: STEPCAST_UPDATE_GOLDEN=1 writes them";
  expect_block("docs/accuracy.md", "Megatron-Bridge by GPU", bridge_by_gpu(now));
}

/// The files of configs/ with the constants that scripts/leave_one_out.sh found without a table, in a folder of their
/// own: lines "TABLE FILE KEY VALUE" of tests/golden/left_out.txt.
void write_left_out(const std::string& table, const std::filesystem::path& folder) {
  std::istringstream lines(read_text(STEPCAST_SOURCE_DIR "/tests/golden/left_out.txt"));
  for (std::string of, file, key, value; lines >> of >> file >> key >> value;) {
    if (of != table) continue;
    std::istringstream config(read_text(STEPCAST_SOURCE_DIR "/configs/" + file + ".yaml"));
    const std::filesystem::path own = folder / (file + ".yaml");
    std::filesystem::create_directories(own.parent_path());
    std::ofstream out(own);
    bool found = false;
    for (std::string line; std::getline(config, line);) {
      const bool here = line.starts_with(key + ":");
      out << (here ? fmt::format("{}: {}", key, value) : line) << "\n";
      found = found || here;
    }
    EXPECT_TRUE(found) << key << " of " << file;
  }
}

/// A table's mean error with no constant fitted to its rows: those that were are fitted to all other tables.
double error_left_out(const Json& table) {
  const auto name = table["table"].get<std::string>();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("stepcast-left-out-{}", getpid());
  write_left_out(name, folder);
  if (!std::filesystem::exists(folder)) return table["mape"].get<double>();
  const Outcome outcome = run_program("validate scenarios/published/" + name + ".csv --format json",
                                      STEPCAST_SOURCE_DIR, "STEPCAST_CONFIGS='" + folder.string() + "'");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return Json::parse(outcome.out)["tables"][0]["mape"].get<double>();
}

/// The tables and the worst rows of docs/accuracy.md are what the command says.
TEST(Validate, ThePageOfAccuracyHasWhatTheCommandSays) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  std::string tables =
      "| table | rows | mean absolute error | target | median | rank correlation | left out | without multipliers | "
      "null model |\n|---|---|---|---|---|---|---|---|---|\n";
  const Outcome bare = run_program(
      "validate scenarios/published --set software.compute_share=1 --set cluster.node.gpu.step_share=1 --format json");
  ASSERT_EQ(bare.status, 0) << bare.err;
  const Json without = Json::parse(bare.out)["tables"];
  const auto named = [](const Json& all, const char* name) {
    return *std::ranges::find(all, name, [](const Json& t) { return t["table"].get<std::string>(); });
  };
  const auto percent = [](const Json& share) {
    return share.is_number() ? fmt::format("{:.1f}%", 100 * share.get<double>()) : std::string("-");
  };
  ASSERT_EQ(published()["tables"].size(), std::size(kPublished));
  for (const Published& p : kPublished) {
    const auto found =
        std::ranges::find(published()["tables"], p.table, [](const Json& t) { return t["table"].get<std::string>(); });
    ASSERT_NE(found, published()["tables"].end()) << p.table;
    const Json& t = *found;
    std::string error = bold(fmt::format("{:.1f}%", 100 * t["mape"].get<double>()), t["mape"].get<double>() > p.target);
    std::string target = fmt::format("{:.0f}%", 100 * p.target), correlation = "-";
    if (p.memory > 0) {
      error += ", memory " + bold(fmt::format("{:.2f}%", 100 * t["memory_mape"].get<double>()),
                                  t["memory_mape"].get<double>() > p.memory);
      target += fmt::format(", memory {:.0f}%", 100 * p.memory);
    }
    if (t["rank_correlation"].is_number()) {
      const double r = t["rank_correlation"].get<double>();
      correlation = bold(fmt::format("{:.3f}", r), r < kLeastCorrelation && t["rows"].get<int>() >= kRanked);
    }
    tables += fmt::format("| {} | {} | {} | {} | {:+.1f}% | {} | {:.1f}% | {} | {} |\n", p.title, t["rows"].get<int>(),
                          error, target, 100 * t["median_error"].get<double>(), correlation, 100 * error_left_out(t),
                          percent(named(without, p.table)["mape"]), percent(t["null_mape"]));
  }
  expect_block("docs/accuracy.md", "published tables", tables);

  std::string bands = "| table | rows | in band | as a new table |\n|---|---|---|---|\n";
  const auto add_band = [&](const std::string& title, std::size_t rows, const Json& of) {
    bands += fmt::format("| {} | {} | {:.0f}% | {:.0f}% |\n", title, rows, 100 * of["in_band"].get<double>(),
                         100 * of["in_band_as_new_table"].get<double>());
  };
  for (const Published& p : kPublished) {
    const Json of = named(published()["tables"], p.table);
    add_band(p.title, of["rows"].get<std::size_t>(), of);
  }
  add_band("all", published()["rows"].size(), published());
  expect_block("docs/accuracy.md", "published bands", bands);

  std::vector<Json> rows(published()["rows"].begin(), published()["rows"].end());
  std::erase_if(rows, [](const Json& row) { return !row["error"].is_number(); });
  std::ranges::stable_sort(rows, std::greater{}, [](const Json& row) { return std::abs(row["error"].get<double>()); });
  std::string worst = "| row | measured | predicted | error |\n|---|--:|--:|--:|\n";
  for (const Json& row : std::span(rows).first(12))
    worst += fmt::format("| {} | {:.4g} s | {:.4g} s | {:+.1f}% |\n", row["name"].get<std::string>(),
                         row["measured_s"].get<double>(), row["predicted_s"].get<double>(),
                         100 * row["error"].get<double>());
  expect_block("docs/accuracy.md", "worst rows", worst);
}

/// Bands are made from the errors of the published tables, by this command. What moves a prediction moves the bands of
/// reports too: with STEPCAST_UPDATE_GOLDEN set, run the tests once for this file and once more for those.
TEST(Validate, TheErrorsThatBandsAreMadeFromAreWhatTheCommandWrites) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  const std::string written = testing::TempDir() + "residuals-now.csv";
  const Outcome outcome = run_program("validate scenarios/published --residuals '" + written + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_golden(STEPCAST_SOURCE_DIR "/configs/residuals.csv", read_text(written));
}

/// 80% is what bands promise to rows like those they were made from; rows of a new table are promised nothing, and this
/// says how it went.
TEST(Validate, BandsHoldTheirShareOfMeasuredRows) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  std::size_t banded = 0;
  for (const Json& row : published()["rows"]) {
    if (!row["low_s"].is_number()) continue;
    ++banded;
    EXPECT_LE(row["low_s"].get<double>(), row["predicted_s"].get<double>()) << row["name"];
    EXPECT_GE(row["high_s"].get<double>(), row["predicted_s"].get<double>()) << row["name"];
    EXPECT_EQ(row["in_range"].get<bool>(), row["out_of_range"].empty()) << row["name"];
  }
  EXPECT_GT(banded, 300u);
  EXPECT_NEAR(published()["in_band"].get<double>(), 0.8, 0.05);
  EXPECT_NEAR(published()["in_band_as_new_table"].get<double>(), 0.8, 0.1);
}

TEST(Validate, SaysOfARowThatDoesNotFitWhatMemoryIsMissing) {
  const std::string command =
      "validate scenarios/quickstart.yaml --set training.sequence=65536 --set 'measured.step_time=1 s' ";
  const Json row = Json::parse(run_program(command + "--format json").out)["rows"][0];
  EXPECT_EQ(row["fits"], false);
  const std::string why = row["why"];
  EXPECT_TRUE(why.starts_with("out of memory: needs ")) << why;
  const std::string csv = run_program(command + "--format csv").out;
  EXPECT_NE(csv.find(why), std::string::npos) << csv;
}

TEST(Validate, SaysWhichCommandComparesWholeRuns) {
  const Outcome outcome =
      run_program("validate scenarios/quickstart.yaml --set 'measured.run_time=3 days' --set measured.step_time=");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("found measured.run_time alone, of whole runs, which stepcast plan compares"),
            std::string::npos)
      << outcome.err;
}

/// Mean absolute errors and rank correlations that were reached must not be lost; docs/accuracy.md has the targets.
TEST(Validate, TablesKeepTheirAccuracy) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "scripts/test.sh runs every published table with sanitizers";
  // megatron_sc21: 0.06 until overlapping collectives shared no more than what they reach of a link. The one channel of
  // deepspeed-2021 was inferred before that from two of its rows, which are now too slow.
  const std::map<std::string, double> most{{"korthikanti_2205_05198", 0.03}, {"megatron_sc21", 0.07},
                                           {"vtrain_micro24_multi", 0.08},   {"dlperf_v100_gpt", 0.12},
                                           {"mosaic_llm_foundry", 0.06},     {"simumax_b200_itertime", 0.06},
                                           {"dlperf_v100_resnet_bert", 0.09}};
  // Ten of its rows lie within 10 % of each other: docs/accuracy.md.
  const std::map<std::string, double> least_rank{{"dlperf_v100_resnet_bert", 0.93}};
  std::size_t seen = 0;
  for (const Json& table : published()["tables"]) {
    const auto at = most.find(table["table"].get<std::string>());
    if (at == most.end()) continue;
    ++seen;
    EXPECT_LE(table["mape"].get<double>(), at->second) << at->first;
    const auto rank = least_rank.find(at->first);
    EXPECT_GE(table["rank_correlation"].get<double>(), rank == least_rank.end() ? 0.95 : rank->second) << at->first;
  }
  EXPECT_EQ(seen, most.size());
  EXPECT_EQ(published()["rows"].size(), 329u);
  EXPECT_LE(published()["mape"].get<double>(), 0.07);
  EXPECT_GE(published()["rank_correlation"].get<double>(), 0.95);
}

}  // namespace
}  // namespace stepcast::app
