// docs/packets.md: flows as csg-htsim simulates them packet by packet, beside those that the program prints. The test
// runs the commands of scenarios/packets/csg-htsim.tsv, writes the page again and compares; STEPCAST_UPDATE_GOLDEN=1
// app_tests
// --gtest_filter='Packets*' rewrites it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program.h"
#include "tests/language/fixtures.h"

namespace stepcast::app {
namespace {

/// One line of the recorded figures, in microseconds, and how far ours may be off; nothing where the line has "-".
struct Recorded {
  std::string what, hosts, paths;
  std::optional<double> median, last, within;
  std::string command;
};

std::optional<double> number(const std::string& word) {
  return word == "-" ? std::optional<double>() : std::optional(std::stod(word));
}

std::vector<Recorded> recorded() {
  std::istringstream lines(read_text(STEPCAST_SOURCE_DIR "/scenarios/packets/csg-htsim.tsv"));
  std::vector<Recorded> all;
  bool head = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#') || std::exchange(head, false)) continue;
    std::istringstream cells(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(cells, word, '\t');) words.push_back(word);
    if (words.size() != 7) throw std::runtime_error("a line of other than 7 cells: " + line);
    all.push_back({words[0], words[1], words[2], number(words[3]), number(words[4]), number(words[5]), words[6]});
  }
  return all;
}

/// What the program prints, in microseconds: the median over the hashings, where it tries some, the least and the most.
struct Ours {
  double median = 0, least = 0, most = 0;
  std::uint32_t hashings = 1;
};

struct Row {
  Recorded recorded;
  Ours median, last;
};

Row run(const Recorded& recorded) {
  const Outcome outcome = run_program(recorded.command + " --format json");
  EXPECT_EQ(outcome.status, 0) << recorded.command << '\n' << outcome.err;
  const nlohmann::json row = nlohmann::json::parse(outcome.out)["rows"][0];
  const auto read = [&](const std::string& key) {
    const auto us = [&](const char* end) { return 1e6 * row[key + end].get<double>(); };
    return Ours{us("_s"), us("_least_s"), us("_most_s"), row["hashings"].get<std::uint32_t>()};
  };
  return {recorded, read("median_flow"), read("last_flow")};
}

double error(double ours, double theirs) { return ours / theirs - 1; }

/// Of a row that says how far ours may be off. Over many hashings the last flow of one run is a draw: it holds if it
/// lies among ours.
void expect_holds(const Row& row) {
  const double within = *row.recorded.within / 100;
  EXPECT_LE(std::abs(error(row.median.median, *row.recorded.median)), within) << row.recorded.command;
  if (row.last.hashings == 1) {
    EXPECT_LE(std::abs(error(row.last.median, *row.recorded.last)), within) << row.recorded.command;
  } else {
    EXPECT_LE(row.last.least, *row.recorded.last) << row.recorded.command;
    EXPECT_GE(row.last.most, *row.recorded.last) << row.recorded.command;
  }
}

std::string cells(const Ours& ours, std::optional<double> theirs) {
  const std::string range = ours.hashings > 1 ? fmt::format(" ({:.0f} to {:.0f})", ours.least, ours.most) : "";
  const std::string off = theirs ? fmt::format("{:+.1f}%", 100 * error(ours.median, *theirs)) : "";
  return fmt::format("{} | {:.1f}{} | {}", theirs ? fmt::format("{}", *theirs) : "", ours.median, range, off);
}

/// The rows that say how far ours may be off, or the others.
std::string table(const std::vector<Row>& rows, bool bounded) {
  std::string text = fmt::format(
      "| what | hosts | paths | median flow: packets | ours | off by | last flow: packets | ours | off by |{}\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|{}\n",
      bounded ? " allowed |" : "", bounded ? "--:|" : "");
  for (const Row& row : rows)
    if (row.recorded.within.has_value() == bounded)
      text += fmt::format("| {} | {} | {} | {} | {} |{}\n", row.recorded.what, row.recorded.hosts, row.recorded.paths,
                          cells(row.median, row.recorded.median), cells(row.last, row.recorded.last),
                          bounded ? fmt::format(" {}% |", *row.recorded.within) : "");
  return text;
}

/// Each command once.
std::string commands(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    const std::string line = "    scripts/stepcast " + row.recorded.command + "\n";
    if (text.find(line) == std::string::npos) text += line;
  }
  return text;
}

constexpr const char* kPage = R"(# Flows as packets see them

stepcast moves flows at the max-min fair rate of the links that they cross; packets, queues and retransmissions it does not
simulate. This page puts it beside a simulator that does: csg-htsim (Broadcom, commit 841d9e7), EQDS, flows of 2 MB that all
start at once on fat trees of three levels with links of 100 Gbit/s. A program writes the page (tests/app/packets_test.cpp):
theirs are the recorded figures of `scenarios/packets/csg-htsim.tsv`, ours is what the commands below print.

Times are in us, from the start of all flows to the last acknowledgement of the median flow and of the last one. With one path
each, ours is the median over the hashings, with the least and the most. A run of theirs has one hashing, so its last flow is a
draw: it has to lie among ours, and the median flow has to be as near as the last column says.

{table}
The same of another protocol, NDP, read off csg-htsim's own plots. Nothing is taken from them, and no limit is set:

{held out}
{commands}
## What ours is made of

Nothing is fitted to a row of the table. Each number is a fact of csg-htsim's source, named in the files:

- `configs/clusters/fat-tree-eqds-16.yaml`: 4,086 of a packet's 4,150 bytes are payload, so 2 MB take 162.5 us of a link.
- `configs/fabrics/fat-tree-eqds.yaml`: a hop takes 1 us, and a switch stores and forwards a packet in 332 ns.
- `configs/software/eqds.yaml`: the last acknowledgement takes 6.03 us back.

One flow is the sum of the three. What is left is what EQDS itself does: its first window, its pulls, a queue at the host.

**Incast.** The receiver's link shares itself evenly, so all flows end together. The packets that are cut to their headers
when the senders' first windows meet cost under 2%, which is not modelled.

**Spraying** (`cluster.fabric.routing: spray`). Every packet draws its path. Of n equal paths that get m packets each on the mean
the fullest gets m + sqrt(2 m ln n) (Raab and Steger, Balls into Bins, RANDOM 1998), and a flow that sprays over all of them
is done with it. `spray_efficiency` is what the paths carry together, of what their links could: 1 / (1 + sqrt(2 ln n / m)),
with the 64 paths of 1,024 hosts and the 490 packets of 2 MB {efficiency:.3f}. It is one constant of the fabric: 16 hosts have 4
paths, of which the fullest is nearer the mean, so there the median flow is too slow. Small flows lose more than it says and large
ones less. The formula was chosen with both tables at hand; its two numbers are those of the machine. From the median of NDP over
8,192 hosts the efficiency would be 0.83, and the median of 16 hosts 12% too slow.

**Hashing** (`cluster.fabric.routing: hash`). Every flow draws one path by its ends and `cluster.fabric.seed`. Flows that meet get
equal shares, so a flow is alone or has a half or a third of a link, and over the hashings times are one of a few values. Packets
share less evenly: of two flows that meet one ends early and the other late, and who waits for such a one at a second link ends
later still. So theirs spread between our values, and the last flow of the median hashing is later than ours: **of flows that
collide, stepcast is right for the median one and a fifth too fast for the last.**

## Other questions

    scripts/stepcast flows --node dgx-h100 --nodes 64 --pattern permutation --set cluster.fabric.routing=hash --seeds 100
    scripts/stepcast collective --node dgx-h100 --nodes 64 --op all_to_all --set cluster.fabric.routing=hash --seeds 20 --sizes 64MiB
    scripts/stepcast run scenarios/gpt-1t-3072.yaml --set cluster.fabric.routing=hash --seeds 100

`--seeds N` tries N hashings, from `cluster.fabric.seed` on. `flows` and `collective` print their median, the least and the most;
`run` prints of the step time the least, the median, the 95th percentile and the most. On a fabric that hashes nothing it is an
error. A pattern is an incast, a permutation, or a table: row s says what GPU s sends each.
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// 1 / (1 + sqrt(2 ln n / m)) of 64 paths and 490 packets.
double sprayed() { return 1 / (1 + std::sqrt(2 * std::log(64.0) / 490)); }

TEST(Packets, FiguresOfThePageAreUpToDate) {
#ifndef NDEBUG
  GTEST_SKIP() << "runs in the release build";
#endif
  std::vector<Row> rows;
  for (const Recorded& each : recorded()) rows.push_back(run(each));
  for (const Row& row : rows)
    if (row.recorded.within) expect_holds(row);
  std::string page = replaced(kPage, "{table}", table(rows, true));
  page = replaced(page, "{held out}", table(rows, false));
  page = replaced(page, "{commands}", commands(rows));
  page = replaced(page, "{efficiency:.3f}", fmt::format("{:.3f}", sprayed()));
  expect_golden(STEPCAST_SOURCE_DIR "/docs/packets.md", page);
}

TEST(Packets, TheFabricStatesTheEfficiencyThatItsSourceGives) {
  const auto fabric = language::small_with("cluster: {nodes: 2, fabric: fat-tree-eqds}").cluster.fabric;
  ASSERT_TRUE(fabric.spray_efficiency);
  EXPECT_NEAR(*fabric.spray_efficiency, sprayed(), 0.0005);
}

}  // namespace
}  // namespace stepcast::app
