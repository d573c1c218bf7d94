#include "collectives/timing/answers.h"

#include <gtest/gtest.h>

namespace stepcast::collectives {
namespace {

std::vector<Group> groups_of(std::initializer_list<std::initializer_list<std::uint32_t>> all) {
  std::vector<Group> groups;
  for (const auto& each : all) {
    Group& group = groups.emplace_back();
    for (const std::uint32_t gpu : each) group.push_back(topology::GpuId{gpu});
  }
  return groups;
}

TEST(TimerAnswers, AreThoseOfTheSameQuestionWordForWord) {
  const std::vector<Group> groups = groups_of({{0, 1, 2, 3}, {4, 5, 6, 7}});
  const std::vector<Group> turned = groups_of({{4, 5, 6, 7}, {0, 1, 2, 3}});
  const std::vector<Group> same_ends = groups_of({{0, 2, 1, 3}, {4, 6, 5, 7}});
  const Details usual, of_first{.own = 1};
  const std::vector<TimerQuestion> questions{
      {Operation::all_reduce, {1024}, groups, "auto", true, usual},
      {Operation::all_gather, {1024}, groups, "auto", true, usual},
      {Operation::all_reduce, {2048}, groups, "auto", true, usual},
      {Operation::all_reduce, {1024}, turned, "auto", true, usual},
      {Operation::all_reduce, {1024}, same_ends, "auto", true, usual},
      {Operation::all_reduce, {1024}, groups, "ring", true, usual},
      {Operation::all_reduce, {1024}, groups, "auto", false, usual},
      {Operation::all_reduce, {1024}, groups, "auto", false, of_first},
      {Operation::all_reduce, {1024}, {}, "auto", true, usual},
  };
  std::vector<Timing> timings(questions.size());
  TimerAnswers answers;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(answers.known(questions[i]), nullptr) << i;
    EXPECT_GT(answers.remember(questions[i], timings[i]), 0u);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(answers.known(questions[i]), &timings[i]) << i;
  EXPECT_EQ(answers.remember(questions.front(), timings.front()), 0u);  // two threads may both find out
  // Whoever puts the same question with lists of their own gets the same answer.
  const std::vector<Group> copy = groups;
  EXPECT_EQ(answers.known({Operation::all_reduce, {1024}, copy, "auto", true, Details{}}), &timings.front());
}

}  // namespace
}  // namespace stepcast::collectives
