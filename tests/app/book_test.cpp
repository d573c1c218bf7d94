// The pages of docs/: what they link to is there, everything that the program lists has a page and a picture, the
// commands that they show are commands, and what stands below these is what they print (scripts/draw_docs.sh writes it
// anew).

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/options.h"
#include "collectives/algorithms.h"
#include "schedules/pipeline/pipelines.h"
#include "tests/app/program.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"
#include "topology/fabrics.h"
#include "topology/node_builders.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

const fs::path kTree = STEPCAST_SOURCE_DIR;

std::vector<fs::path> book_pages() {
  std::vector<fs::path> pages{kTree / "README.md", kTree / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kTree / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::ranges::sort(pages);
  return pages;
}

std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kTree / "configs" / folder)) names.push_back(entry.path().stem());
  return names;
}

TEST(Book, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  for (const fs::path& page : book_pages()) {
    const std::string text = read_text(page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
    }
  }
}

TEST(Book, ContentsNameEveryPage) {
  for (const fs::path& page : book_pages()) {
    const fs::path contents = page.parent_path() / "README.md";
    if (page.filename() == "README.md" || page.parent_path() == kTree) continue;
    EXPECT_NE(read_text(contents).find("(" + page.filename().string() + ")"), std::string::npos)
        << contents << " does not name " << page;
  }
}

TEST(Book, GlossaryNamesFilesThatHoldWhatItSays) {
  std::string text = read_text(kTree / "docs/glossary.md");
  std::ranges::replace(text, '\n', ' ');
  const std::regex file("`([a-z_0-9]+/[a-z_0-9/]+[.](?:h|cpp|csv|md))`");
  for (std::sregex_iterator at(text.begin(), text.end(), file), end; at != end; ++at)
    EXPECT_TRUE(fs::exists(kTree / (*at)[1].str())) << "docs/glossary.md names " << (*at)[1];
  // `Type` (`file`), `Type`, `Other` (`file`), or (`Type`, `file`).
  const std::regex held("((?:`[A-Za-z_:]+`,? +)+)[(]?`([a-z_0-9]+/[a-z_0-9/]+[.](?:h|cpp))`");
  const std::regex name("([A-Za-z_]+)`");
  std::size_t types = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), held), end; at != end; ++at) {
    const std::string names = (*at)[1], path = (*at)[2], code = read_text(kTree / path);
    for (std::sregex_iterator word(names.begin(), names.end(), name); word != end; ++word) {
      const std::string each = (*word)[1];
      const bool is_type = each.front() >= 'A' && each.front() <= 'Z';
      const std::string before = is_type ? "(struct|class|using) " : "\\b";
      EXPECT_TRUE(std::regex_search(code, std::regex(before + each + "\\b")))
          << "docs/glossary.md says that " << each << " is in " << path;
      types += is_type ? 1 : 0;
    }
  }
  EXPECT_GT(types, 60u);
}

TEST(Book, EachAlgorithmScheduleNodeAndFabricHasAPageAndAPicture) {
  const auto expect_page = [](const std::string& folder, const std::string& name) {
    const fs::path page = kTree / "docs" / folder / (name + ".md");
    ASSERT_TRUE(fs::exists(page)) << page << " is missing";
    EXPECT_NE(read_text(page).find("](" + name + ".svg)"), std::string::npos) << page << " shows no picture";
  };
  for (const collectives::Algorithm* each : collectives::algorithms())
    expect_page("collectives", std::string(each->name));
  for (const schedules::PipelineSchedule* each : schedules::pipelines())
    expect_page("schedules", std::string(each->name));
  for (const topology::Builder* each : topology::builders()) expect_page("topologies", std::string(each->name));
  for (const topology::FabricBuilder* each : topology::fabrics()) expect_page("topologies", std::string(each->name));
  for (const char* kind : {"nodes", "fabrics"}) {
    const std::string page = read_text(kTree / "docs/topologies" / (std::string(kind) + ".md"));
    for (const std::string& name : names_in(kind))
      EXPECT_NE(page.find("](" + std::string(kind) + "/" + name + ".svg)"), std::string::npos)
          << "docs/topologies/" << kind << ".md shows no " << name;
  }
}

TEST(Book, CommandsAreCommandsWithOptionsThatTheyHave) {
  const std::string start = "    scripts/stepcast ";
  for (const fs::path& page : book_pages()) {
    std::istringstream lines(read_text(page));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(line.starts_with("    stepcast ")) << page << " has a command without scripts/: " << line;
      if (!line.starts_with(start)) continue;
      std::istringstream words(line.substr(start.size()));
      std::string name, word;
      words >> name;
      const auto all = commands();
      const auto command = std::ranges::find(all, name, [](const Command* each) { return std::string(each->name); });
      ASSERT_NE(command, all.end()) << page << ": " << line;
      while (words >> word && word != "#" && word != "|") {
        if (word.starts_with("--") && word != "--") {
          const std::string option = word.substr(2, word.find('=') - 2);
          EXPECT_NE((*command)->line().options.find_nothrow(option, false), nullptr) << page << ": " << line;
        }
        const bool file =
            word.starts_with("scenarios/") || word.starts_with("configs/") || word.starts_with("calibrate/");
        EXPECT_TRUE(!file || fs::exists(kTree / word)) << page << ": " << line;
      }
    }
  }
}

/// The words of a text that begin with a digit, without what stands around them.
std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> numbers;
  const std::regex number(R"((^|[^\w.,])(\d[\w.,%]*))");
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
    std::string word = (*at)[2];
    while (word.ends_with('.') || word.ends_with(',')) word.pop_back();
    numbers.insert(word);
  }
  return numbers;
}

// What a command prints is written anew (PagesShowWhatTheProgramDrawsAndPrints); a sentence is not.
TEST(Book, FiguresOfTheGallerysAnswersStandInWhatTheCommandsPrint) {
  std::size_t answers = 0;
  for (const auto& entry : fs::directory_iterator(kTree / "docs/gallery")) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "README.md") continue;
    const std::string text = read_text(entry.path());
    const std::size_t answer = text.find("**Answer.**");
    ASSERT_NE(answer, std::string::npos) << entry.path();
    const std::set<std::string> shown = numbers_in(text.substr(0, answer));
    for (const std::string& number : numbers_in(text.substr(answer)))
      EXPECT_TRUE(shown.contains(number))
          << entry.path() << " answers with " << number << ", which nothing above it says";
    ++answers;
  }
  EXPECT_EQ(answers, 12u);
}

TEST(Book, PagesShowWhatTheProgramDrawsAndPrints) {
  if (test::kSanitized) GTEST_SKIP() << "some hundred runs of the program, each of which other tests have too";
  const Outcome outcome = run_script("scripts/draw_docs.sh --check");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace stepcast::app
