#include "search/cut.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/sanitized.h"

namespace stepcast::search {
namespace {

using Cut = std::vector<std::uint32_t>;

/// The least time of all cuts, and one that takes it: every way to share out the blocks is tried.
struct BestOfAll {
  explicit BestOfAll(const Chain& chain) : chain_(chain) { share_out(0); }

  std::optional<Time> least;
  std::size_t tried = 0;

 private:
  void share_out(std::uint32_t first) {
    const auto blocks = static_cast<std::uint32_t>(chain_.times.front().size());
    const auto part = static_cast<std::uint32_t>(cut_.size());
    if (part == chain_.kinds.size()) {
      if (first != blocks) return;
      ++tried;
      const Time time = pipeline_time(chain_, cut_);
      if (!least || time < *least) least = time;
      return;
    }
    for (std::uint32_t count = 1; first + count <= blocks; ++count) {
      if (chain_.fits && !chain_.fits(part, first, count)) continue;
      cut_.push_back(count);
      share_out(first + count);
      cut_.pop_back();
    }
  }

  const Chain& chain_;
  Cut cut_;
};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}
  std::uint32_t up_to(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % (most + 1)); }

 private:
  std::mt19937_64 random_;
};

/// Up to 12 blocks and three kinds of stage, in any order; of half of them the parts have unlike memory.
Chain random_chain(std::uint64_t seed, std::vector<std::uint32_t>& memory) {
  Draws draw(seed);
  const std::uint32_t blocks = 1 + draw.up_to(11), parts = 1 + draw.up_to(std::min(blocks - 1, 6u)),
                      kinds = 1 + draw.up_to(2), most = draw.up_to(1) == 0 ? 6 : 1000;
  Chain chain;
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    std::vector<Time>& times = chain.times.emplace_back();
    for (std::uint32_t block = 0; block < blocks; ++block) times.push_back(Time{draw.up_to(most)});
  }
  for (std::uint32_t part = 0; part < parts; ++part) chain.kinds.push_back(draw.up_to(kinds - 1));
  chain.repeats = draw.up_to(9);
  if (draw.up_to(1) == 0) return chain;
  for (std::uint32_t i = 0; i < parts + blocks; ++i) memory.push_back(draw.up_to(i < parts ? 12 : 4));
  chain.fits = [&memory, parts](std::uint32_t part, std::uint32_t first, std::uint32_t count) {
    const auto begin = memory.begin() + parts + first;
    return std::accumulate(begin, begin + count, 0u) <= 4 + memory[part];
  };
  return chain;
}

TEST(Cut, IsTheBestOfAllCutsOfUpTo12Blocks) {
  const std::uint64_t chains = stepcast::test::kSanitized ? 300 : 5000;
  std::size_t found = 0, refused = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= chains; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::uint32_t> memory;
    const Chain chain = random_chain(seed, memory);
    const BestOfAll all(chain);
    const std::optional<Cut> cut = best_cut(chain);
    tried += all.tried;
    ASSERT_EQ(cut.has_value(), all.least.has_value());
    if (!cut) {
      ++refused;
      continue;
    }
    ++found;
    ASSERT_EQ(cut->size(), chain.kinds.size());
    EXPECT_EQ(pipeline_time(chain, *cut), *all.least);
    std::uint32_t first = 0;
    for (std::uint32_t part = 0; part < cut->size(); first += (*cut)[part++]) {
      EXPECT_GT((*cut)[part], 0u);
      EXPECT_TRUE(!chain.fits || chain.fits(part, first, (*cut)[part]));
    }
    EXPECT_EQ(first, chain.times.front().size());
  }
  EXPECT_GT(found, chains / 2);
  EXPECT_GT(refused, chains / 50);
  EXPECT_GT(tried, 20 * chains);
}

Chain alike(std::uint32_t blocks, std::uint32_t parts, std::int64_t repeats) {
  return {.times = {std::vector<Time>(blocks, Time{10})},
          .kinds = std::vector<std::uint32_t>(parts, 0),
          .repeats = repeats};
}

TEST(Cut, OfBlocksThatAreAlikeIsEvenAndFirstPartsHoldMore) {
  EXPECT_EQ(best_cut(alike(12, 4, 7)), (Cut{3, 3, 3, 3}));
  EXPECT_EQ(best_cut(alike(14, 4, 7)), (Cut{4, 4, 3, 3}));
  EXPECT_EQ(best_cut(alike(9, 4, 0)), (Cut{3, 2, 2, 2}));
  EXPECT_EQ(best_cut(alike(3, 4, 7)), std::nullopt);
}

TEST(Cut, GivesAPartWithALargeHeadFewerBlocks) {
  Chain chain = alike(17, 4, 15);
  chain.times[0].back() = Time{25};
  EXPECT_EQ(best_cut(chain), (Cut{5, 5, 4, 3}));
}

TEST(Cut, GivesStagesTwiceAsFastTwiceAsManyBlocks) {
  Chain chain = alike(12, 4, 63);
  chain.times.push_back(std::vector<Time>(12, Time{5}));
  chain.kinds = {0, 0, 1, 1};
  EXPECT_EQ(best_cut(chain), (Cut{2, 2, 4, 4}));
}

TEST(Cut, WithOneMicroBatchUsesTheFastStageForAllThatMayBeThere) {
  Chain chain = alike(8, 3, 0);
  chain.times.push_back(std::vector<Time>(8, Time{5}));
  chain.kinds = {0, 1, 0};
  EXPECT_EQ(best_cut(chain), (Cut{1, 6, 1}));
  chain.repeats = 100;
  EXPECT_EQ(best_cut(chain), (Cut{2, 4, 2}));
}

TEST(Cut, KeepsToWhatEachPartCanHold) {
  Chain chain = alike(12, 4, 7);
  chain.fits = [](std::uint32_t part, std::uint32_t, std::uint32_t count) { return count <= 1 + part; };
  EXPECT_EQ(best_cut(chain), std::nullopt);
  chain.fits = [](std::uint32_t part, std::uint32_t, std::uint32_t count) { return count <= 2 + part; };
  EXPECT_EQ(best_cut(chain), (Cut{2, 3, 4, 3}));
}

}  // namespace
}  // namespace stepcast::search
