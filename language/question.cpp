#include "language/question.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "language/core/convert.h"
#include "language/core/nearest.h"
#include "language/core/visible_text.h"
#include "language/notes.h"
#include "language/scenario.h"
#include "schedules/checks/check.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// What files say of where their numbers are from is for `show`: a table would hold it once for each of its rows.
void forget_sources(schedules::Scenario& scenario) {
  const auto forget = [](auto&... of) { ((of.source = {}), ...); };
  topology::NodeSpec& node = scenario.cluster.node;
  forget(scenario, scenario.model, scenario.software, scenario.cluster.gpu, scenario.cluster.fabric, node);
  for (std::optional<topology::LinkType>* link :
       {&node.nvlink, &node.pcie, &node.socket_link, &node.nic, &node.nic_pcie})
    if (*link) forget(**link);
}

/// Whether a flag, and no file, says what this key is.
bool said_by_flag(const Node& tree, std::string_view key) { return is_said(tree, key) && locate(tree, key).line == 0; }

/// What of the keys that do not go together is to be changed: the one that was laid over a file, if one was.
const std::string& blamed(const schedules::Problem& problem, const Node& tree) {
  if (said_by_flag(tree, problem.key)) return problem.key;
  const auto said = std::ranges::find_if(problem.others, [&](const auto& key) { return said_by_flag(tree, key); });
  return said == problem.others.end() ? problem.key : *said;
}

}  // namespace

void keep_error(Question& question) {
  if (!question.among_others) throw;
  const auto keep = [&](const std::string& what) { question.error = visible(question.origin + ": " + what); };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    keep("this computer has too little memory for it");
  } catch (const std::logic_error& e) {
    question.internal_error = true;
    keep(std::string("internal error: ") + e.what());
  } catch (const std::exception& e) {
    keep(e.what());
  }
}

void fill(Question& question, const Node& tree, Library& library, const MoreChecks& more) {
  if (const Node* name = tree.find("name"); name != nullptr && name->kind == Node::Kind::scalar) {
    question.name = name->scalar;
  }
  if (const Node* source = tree.find("source"); source != nullptr && source->kind == Node::Kind::scalar) {
    question.source = source->scalar;
  }
  question.scenario = read_scenario(tree, library);
  question.scenario.name = question.name;
  forget_sources(question.scenario);
  std::vector<schedules::Problem> problems = schedules::check(question.scenario);
  if (problems.empty() && more) problems = more(question.scenario);
  for (const schedules::Problem& problem : problems) {
    if (!question.error.empty()) question.error += '\n';
    const std::string& to_blame = blamed(problem, tree);
    question.error += visible(text(locate(tree, to_blame)) + ": " + to_blame + ": " + problem.text);
    const KeyInfo* key = find_key(scenario_schema(), problem.key);
    if (key != nullptr && problem.text.starts_with("missing") && problem.text.find("expected") == std::string::npos)
      question.error += "; expected " + expected(key->type);
  }
  question.refused = !question.error.empty();
}

void add_notes(Question& question, const Node& tree, Library& library) {
  if (question.refused) return;
  question.said = said_plan_keys(tree);
  question.profiled = profiled_keys(tree, question.scenario, library);
  question.notes = notes_on_defaults(tree, question.scenario, library);
  std::ranges::move(schedules::notes(question.scenario), std::back_inserter(question.notes));
}

Question question_of_row(std::vector<Question> questions, const std::string& row, const std::string& row_key) {
  if (!row.empty()) {
    const auto named = std::ranges::find(questions, row, &Question::name);
    if (named == questions.end()) {
      std::vector<std::string_view> names;
      for (const Question& each : questions) names.push_back(each.name);
      throw InputError(row_key, "found " + in_quotes(row) + ", expected " + one_of(row, names));
    }
    Question question = std::move(*named);
    questions.assign(1, std::move(question));
  }
  if (questions.empty()) throw InputError(row_key, "found no scenario, expected one");
  if (questions.size() > 1)
    throw InputError(row_key, "found " + std::to_string(questions.size()) +
                                  " scenarios, expected the name of one, as " + in_quotes(questions.front().name));
  if (!questions.front().error.empty()) throw InputError("", questions.front().error);
  return std::move(questions.front());
}

}  // namespace stepcast::language
