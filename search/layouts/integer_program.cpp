#include "search/layouts/integer_program.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stepcast::search {
namespace {

using Choices = std::vector<std::uint32_t>;

/// One end of a conversion, as the operator at it sees it.
struct ConversionEnd {
  const LayoutConversion* conversion = nullptr;
  bool is_from = false;

  std::uint32_t other() const { return is_from ? conversion->to : conversion->from; }
  Time time(std::uint32_t own, std::uint32_t other_choice) const {
    return is_from ? conversion->times[own][other_choice] : conversion->times[other_choice][own];
  }
};

/// A graph whose operators have lost choices that no best answer needs.
class ReducedGraph {
 public:
  explicit ReducedGraph(const LayoutGraph& graph) : graph_(graph), ends_(graph.operators.size()) {
    for (const LayoutConversion& conversion : graph.conversions) {
      if (conversion.from == conversion.to) continue;
      ends_[conversion.from].push_back({&conversion, true});
      ends_[conversion.to].push_back({&conversion, false});
    }
    for (std::uint32_t place = 0; place < graph.operators.size(); ++place) {
      Choices& all = left_.emplace_back();
      for (std::uint32_t choice = 0; choice < graph.operators[place].size(); ++choice) all.push_back(choice);
    }
    for (std::uint32_t place = 0; place < left_.size(); ++place) drop_dominated(place);
  }

  const std::vector<Choices>& left() const { return left_; }
  const std::vector<ConversionEnd>& ends(std::uint32_t place) const { return ends_[place]; }
  bool is_decided(std::uint32_t place) const { return left_[place].size() == 1; }

  /// Of a choice, with what it converts to itself and to operators that have one choice left.
  Time time(std::uint32_t place, std::uint32_t choice) const {
    Time all = own_time(place, choice);
    for (const ConversionEnd& end : ends_[place])
      if (is_decided(end.other())) all += end.time(choice, left_[end.other()].front());
    return all;
  }

 private:
  Time own_time(std::uint32_t place, std::uint32_t choice) const {
    Time all = graph_.operators[place][choice].time;
    for (const LayoutConversion& conversion : graph_.conversions)
      if (conversion.from == place && conversion.to == place) all += conversion.times[choice][choice];
    return all;
  }

  /// Whether `a` is no worse than `b` whatever the other operators choose.
  bool betters(std::uint32_t place, std::uint32_t a, std::uint32_t b) const {
    const LayoutChoice &one = graph_.operators[place][a], &other_one = graph_.operators[place][b];
    if (graph_.limit && (one.bytes > other_one.bytes || one.bytes + one.working > other_one.bytes + other_one.working))
      return false;
    if (own_time(place, a) > own_time(place, b)) return false;
    return std::ranges::all_of(ends_[place], [&](const ConversionEnd& end) {
      return std::ranges::all_of(left_[end.other()],
                                 [&](std::uint32_t other) { return end.time(a, other) <= end.time(b, other); });
    });
  }

  /// Of choices that are all alike the first one stays.
  void drop_dominated(std::uint32_t place) {
    Choices kept;
    for (const std::uint32_t choice : left_[place]) {
      if (std::ranges::any_of(kept, [&](std::uint32_t one) { return betters(place, one, choice); })) continue;
      std::erase_if(kept, [&](std::uint32_t one) { return betters(place, choice, one); });
      kept.push_back(choice);
    }
    left_[place] = std::move(kept);
  }

  const LayoutGraph& graph_;
  std::vector<std::vector<ConversionEnd>> ends_;
  std::vector<Choices> left_;
};

/// Writes the integer program of a graph.
class LayoutProgram {
 public:
  LayoutProgram(const LayoutGraph& graph, const ReducedGraph& reduced) : graph_(graph), reduced_(reduced) {
    for (std::uint32_t place = 0; place < graph.operators.size(); ++place) add_choices(place);
    for (const LayoutConversion& conversion : graph.conversions)
      if (conversion.from != conversion.to && !reduced.is_decided(conversion.from) &&
          !reduced.is_decided(conversion.to))
        add_pairs(conversion);
    if (graph.limit) add_limit(*graph.limit);
    scale_costs();
  }

  const ZeroOneProgram& program() const { return program_; }
  /// So much less room is left below the limit, as a share of it: solvers take rows for satisfied that nearly are.
  void tighten(double share) {
    for (std::size_t row = first_of_limit_; row < program_.rows.size(); ++row) program_.rows[row].most -= share;
  }

  Choices choices(const std::vector<double>& values) const {
    Choices chosen;
    for (std::uint32_t place = 0; place < reduced_.left().size(); ++place) {
      const Choices& left = reduced_.left()[place];
      const auto first = values.begin() + first_[place];
      const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(left.size()));
      chosen.push_back(left[static_cast<std::size_t>(most - first)]);
    }
    return chosen;
  }

 private:
  std::uint32_t add_variable(Time cost, bool whole) {
    program_.costs.push_back(static_cast<double>(cost.value));
    program_.whole.push_back(whole);
    return static_cast<std::uint32_t>(program_.costs.size() - 1);
  }

  void add_choices(std::uint32_t place) {
    first_.push_back(static_cast<std::uint32_t>(program_.costs.size()));
    ZeroOneProgram::Constraint one{.terms = {}, .least = 1, .most = 1};
    for (const std::uint32_t choice : reduced_.left()[place])
      one.terms.push_back({add_variable(reduced_.time(place, choice), true), 1});
    program_.rows.push_back(std::move(one));
  }

  /// The choices of one end that convert alike, as rows that say: of their variables, no more or less than of the pairs
  /// that they are in. Of each such class one choice stands for all.
  struct EndClasses {
    Choices first;
    std::vector<ZeroOneProgram::Constraint> rows;
  };
  EndClasses classes(const ConversionEnd& end, std::uint32_t place) const {
    EndClasses out;
    std::map<std::vector<Time>, std::size_t> known;
    const Choices& left = reduced_.left()[place];
    for (std::uint32_t i = 0; i < left.size(); ++i) {
      std::vector<Time> times;
      for (const std::uint32_t other : reduced_.left()[end.other()]) times.push_back(end.time(left[i], other));
      const auto [found, fresh] = known.try_emplace(std::move(times), out.first.size());
      if (fresh) {
        out.first.push_back(left[i]);
        out.rows.emplace_back();
      }
      out.rows[found->second].terms.push_back({first_[place] + i, 1});
    }
    return out;
  }

  void add_pairs(const LayoutConversion& conversion) {
    EndClasses from = classes({&conversion, true}, conversion.from), to = classes({&conversion, false}, conversion.to);
    if (from.first.size() == 1 && to.first.size() == 1) {  // one time whatever is chosen
      const Time time = conversion.times[from.first.front()][to.first.front()];
      const std::uint32_t place = conversion.from;
      for (std::size_t i = 0; i < reduced_.left()[place].size(); ++i)
        program_.costs[first_[place] + i] += static_cast<double>(time.value);
      return;
    }
    for (std::size_t i = 0; i < from.first.size(); ++i)
      for (std::size_t j = 0; j < to.first.size(); ++j) {
        const std::uint32_t pair = add_variable(conversion.times[from.first[i]][to.first[j]], false);
        from.rows[i].terms.push_back({pair, -1});
        to.rows[j].terms.push_back({pair, -1});
      }
    for (std::vector<ZeroOneProgram::Constraint>* rows : {&from.rows, &to.rows})
      std::ranges::move(*rows, std::back_inserter(program_.rows));
  }

  /// In shares of the limit: what is there all the while is a variable, and with what a block works on no more than 1.
  void add_limit(Bytes limit) {
    const std::uint32_t always = add_variable({}, false);
    ZeroOneProgram::Constraint sum{.terms = {{always, -1}}, .least = 0, .most = 0};
    std::vector<ZeroOneProgram::Constraint> blocks(graph_.count_blocks(),
                                                   {.terms = {{always, 1}}, .least = 0, .most = 1});
    for (std::uint32_t place = 0; place < graph_.operators.size(); ++place)
      for (std::uint32_t i = 0; i < reduced_.left()[place].size(); ++i) {
        const LayoutChoice& choice = graph_.operators[place][reduced_.left()[place][i]];
        if (choice.bytes.value > 0) sum.terms.push_back({first_[place] + i, choice.bytes / limit});
        if (choice.working.value > 0)
          blocks[graph_.block(place)].terms.push_back({first_[place] + i, choice.working / limit});
      }
    program_.rows.push_back(std::move(sum));
    first_of_limit_ = program_.rows.size();
    std::ranges::move(blocks, std::back_inserter(program_.rows));
  }

  /// Costs no larger than a solver's tolerances are made for.
  void scale_costs() {
    constexpr double kLargest = 1e6;
    const double most = std::ranges::max(program_.costs);
    if (most <= kLargest) return;
    for (double& cost : program_.costs) cost *= kLargest / most;
  }

  const LayoutGraph& graph_;
  const ReducedGraph& reduced_;
  std::vector<std::uint32_t> first_;  ///< variable of each operator
  std::size_t first_of_limit_ = 0;    ///< row; those behind it are as well
  ZeroOneProgram program_;
};

bool is_within_limit(const LayoutGraph& graph, const ChosenLayouts& chosen) {
  return !graph.limit || chosen.bytes <= *graph.limit;
}

std::optional<Choices> solved(const LayoutGraph& graph, const ReducedGraph& reduced, ProgramSolver solver) {
  LayoutProgram program(graph, reduced);
  constexpr double kTolerance = 1e-5;  // ten times that of CBC's rows
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::vector<double> values;
    std::string error;
    if (!solver(program.program(), values, error)) throw std::runtime_error("the integer program of layouts: " + error);
    if (values.empty()) return std::nullopt;
    Choices chosen = program.choices(values);
    if (is_within_limit(graph, layouts_of(graph, chosen))) return chosen;
    program.tighten(kTolerance);
  }
  throw std::runtime_error("the integer program of layouts: the solver's answer takes more bytes than the limit");
}

/// Moves one operator after the other to the first of its choices that takes no more time, as long as that helps: what
/// is left of a solver's tolerance, and one answer of several that are as good.
ChosenLayouts settled(const LayoutGraph& graph, Choices choices) {
  ChosenLayouts best = layouts_of(graph, std::move(choices));
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t place = 0; place < best.choices.size(); ++place)
      for (std::uint32_t choice = 0; choice < graph.operators[place].size(); ++choice) {
        Choices other = best.choices;
        if (other[place] == choice) continue;
        const bool is_earlier = choice < other[place];
        other[place] = choice;
        ChosenLayouts tried = layouts_of(graph, std::move(other));
        if (!is_within_limit(graph, tried) || tried.time > best.time || (tried.time == best.time && !is_earlier))
          continue;
        best = std::move(tried);
        moved = true;
      }
  }
  return best;
}

/// The program of the fewest bytes: of those that are there all the while, and of those that the block takes that works
/// on the most.
ZeroOneProgram program_of_bytes(const LayoutGraph& graph, Bytes most) {
  ZeroOneProgram program{.costs = {1, 1}, .whole = {false, false}, .rows = {}};
  ZeroOneProgram::Constraint sum{.terms = {{0, -1}}, .least = 0, .most = 0};
  std::vector<ZeroOneProgram::Constraint> blocks(graph.count_blocks(), {.terms = {{1, -1}}, .least = -1, .most = 0});
  for (std::size_t place = 0; place < graph.operators.size(); ++place) {
    ZeroOneProgram::Constraint one{.terms = {}, .least = 1, .most = 1};
    for (const LayoutChoice& choice : graph.operators[place]) {
      const auto variable = static_cast<std::uint32_t>(program.costs.size());
      program.costs.push_back(0);
      program.whole.push_back(true);
      one.terms.push_back({variable, 1});
      sum.terms.push_back({variable, choice.bytes / most});
      blocks[graph.block(place)].terms.push_back({variable, choice.working / most});
    }
    program.rows.push_back(std::move(one));
  }
  program.rows.push_back(std::move(sum));
  std::ranges::move(blocks, std::back_inserter(program.rows));
  return program;
}

}  // namespace

Bytes least_bytes(const LayoutGraph& graph, ProgramSolver solver) {
  Bytes most{};
  for (const std::vector<LayoutChoice>& choices : graph.operators) {
    const LayoutChoice largest =
        std::ranges::max(choices, {}, [](const LayoutChoice& one) { return one.bytes + one.working; });
    most += largest.bytes + largest.working;
  }
  if (most == Bytes{}) return {};
  std::vector<double> values;
  std::string error;
  if (!solver(program_of_bytes(graph, most), values, error) || values.empty())
    throw std::runtime_error("the integer program of layouts: " + error);
  Choices chosen;
  std::size_t first = 2;
  for (const std::vector<LayoutChoice>& choices : graph.operators) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const auto here = std::max_element(begin, begin + std::ssize(choices));
    chosen.push_back(static_cast<std::uint32_t>(here - begin));
    first += choices.size();
  }
  return layouts_of(graph, std::move(chosen)).bytes;
}

std::optional<ChosenLayouts> best_layouts(const LayoutGraph& graph, ProgramSolver solver) {
  if (graph.limit && fewest_bytes(graph) > *graph.limit) return std::nullopt;
  const ReducedGraph reduced(graph);
  Choices choices;
  for (const Choices& left : reduced.left())
    if (left.size() == 1) choices.push_back(left.front());
  if (choices.size() < graph.operators.size()) {
    std::optional<Choices> found = solved(graph, reduced, solver);
    if (!found) return std::nullopt;
    choices = std::move(*found);
  }
  ChosenLayouts best = settled(graph, std::move(choices));
  if (!is_within_limit(graph, best)) return std::nullopt;
  return best;
}

}  // namespace stepcast::search
