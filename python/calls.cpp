#include "python/calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "app/answers.h"
#include "app/asked.h"
#include "app/chosen_layouts.h"
#include "app/commands/collective.h"
#include "app/commands/topology.h"
#include "app/diff/diff_report.h"
#include "app/diff/said_keys.h"
#include "app/forecast_side.h"
#include "app/logged_side.h"
#include "app/planned_runs.h"
#include "app/report/comparison.h"
#include "app/report/json.h"
#include "app/report/sensitivity_report.h"
#include "app/search_space.h"
#include "app/simulate_word.h"
#include "app/sweep/axis.h"
#include "app/sweep/in_order.h"
#include "app/sweep/point_answers.h"
#include "calibrate/in_parallel.h"
#include "language/configs/config_folders.h"
#include "language/questions.h"
#include "language/scenario_text.h"
#include "language/variants.h"
#include "schedules/checks/check_transfers.h"
#include "search/layouts/unsplit.h"
#include "search/sensitivity.h"
#include "sim/input_error.h"

namespace stepcast::python {
namespace {

using Questions = std::vector<language::Question>;

/// Of memory, for what the machines of all calls remember of collectives.
constexpr std::size_t kMostMachineBytes = std::size_t{256} << 20;

/// The machines that all calls of this process share: whoever forecasts in a loop builds each cluster once. Answers do
/// not depend on it.
workload::Machines& machines() {
  static workload::Machines shared(kMostMachineBytes);
  return shared;
}

/// Reads what is asked about. Throws InputError with all that is wrong where a scenario that is named, or a dict,
/// cannot run; a row of a table or a file of a folder that cannot says so in its answer.
Questions questions_of(const std::vector<Asking>& asked, const std::vector<std::string>& settings,
                       const language::MoreChecks& more = {}) {
  language::Library library(language::config_folders());
  Questions all;
  std::string wrong;
  for (const Asking& each : asked) {
    if (const auto* tree = std::get_if<language::Node>(&each)) {
      all.push_back(language::read_question(*tree, settings, library, more));
    } else {
      Questions read = language::read_questions(std::vector{std::get<std::string>(each)}, settings, library, {}, more);
      std::ranges::move(read, std::back_inserter(all));
    }
  }
  for (const language::Question& question : all)
    if (!question.among_others && !question.error.empty()) wrong += (wrong.empty() ? "" : "\n") + question.error;
  if (!wrong.empty()) throw InputError("", wrong);
  return all;
}

/// The one scenario that a call is about.
schedules::Scenario scenario_of(const Asking& asked, const std::vector<std::string>& settings,
                                const language::MoreChecks& more = {}) {
  Questions questions = questions_of({asked}, settings, more);
  if (questions.size() != 1)
    throw InputError("", "found " + std::to_string(questions.size()) + " scenarios, expected one");
  if (!questions.front().error.empty()) throw InputError("", questions.front().error);
  return std::move(questions.front().scenario);
}

/// One question is answered on the machines that all calls share.
std::vector<app::Answer> answered(Questions questions, const app::AnswerOptions& options) {
  if (questions.size() == 1 && !questions.front().of_table) {
    app::Answer answer{questions.front(), std::nullopt, {}};
    if (app::answer_one(answer, machines(), options.forecast)) {
      std::vector<app::Answer> answers;
      answers.push_back(std::move(answer));
      return answers;
    }
  }
  return app::answer(std::move(questions), options);
}

void require_all_answered(const std::vector<app::Answer>& answers) {
  for (const app::Answer& each : answers)
    if (!each.question.among_others && !each.forecast) throw InputError("", each.question.error);
}

}  // namespace

std::string run(const std::vector<Asking>& asked, const RunCall& call) {
  app::AnswerOptions options;
  options.rows_that_may_fit = call.simulate.empty();
  options.forecast.simulate = app::simulate_word(call.simulate, "simulate").value_or(schedules::Simulate::all);
  options.forecast.advise = options.forecast.simulate != schedules::Simulate::nothing;
  options.forecast.unfold = call.unfold;
  options.forecast.time_details = true;
  options.forecast.transfers = call.transfers;
  options.threads = call.threads;
  if (call.transfers && options.forecast.simulate == schedules::Simulate::nothing)
    throw InputError("simulate", "found 'none' beside detail='transfers', expected all or fitting");
  const language::MoreChecks more = call.transfers ? schedules::check_transfers : language::MoreChecks();
  std::vector<app::Answer> answers = answered(questions_of(asked, call.settings, more), options);
  require_all_answered(answers);
  app::add_bands(answers, app::measured_residuals());
  return app::run_json(answers);
}

std::string validate(const std::vector<Asking>& asked, const std::vector<std::string>& settings, unsigned threads) {
  std::vector<Asking> all = asked;
  if (all.empty()) all.emplace_back((language::library_folder().parent_path() / "scenarios/published").string());
  std::vector<app::Answer> answers = app::answer(questions_of(all, settings), {.threads = threads});
  const std::vector<calibrate::Residual> measured = app::measured_residuals();
  app::add_bands(answers, measured);
  const app::Comparison comparison = app::compare(answers, measured);
  if (comparison.rows.empty())
    throw InputError("", "no scenario there has a `measured:` block, expected measured.step_time in one");
  return app::validate_json(comparison);
}

SweepLines sweep(const Asking& asked, const SweepCall& call) {
  std::vector<app::SweepAxis> axes;
  for (const std::string& axis : call.axes) axes.push_back(app::read_axis(axis));
  if (axes.empty()) throw InputError("axes", "found none, expected one such as {'parallelism.tensor': [1, 2, 4, 8]}");
  const app::SweepGrid grid(std::move(axes), call.zips);
  language::Library library(language::config_folders());
  const auto* tree = std::get_if<language::Node>(&asked);
  const language::Variants base =
      tree != nullptr ? language::Variants(*tree, call.settings, std::move(library))
                      : language::Variants(std::get<std::string>(asked), call.settings, {}, std::move(library));
  app::SweepNames names(grid, base.tree());
  std::vector<app::Condition> conditions;
  const app::Vocabulary vocabulary = names.vocabulary();
  for (const std::string& text : call.wheres) conditions.emplace_back(text, vocabulary, "where");
  const app::SweepColumns columns(grid);
  schedules::ForecastOptions forecast;
  forecast.advise = false;
  forecast.simulate = app::simulate_word(call.simulate, "simulate").value_or(schedules::Simulate::what_may_fit);

  const unsigned threads = call.threads > 0 ? call.threads : calibrate::cores();
  app::PointAnswers answers(base, {grid, names, conditions, columns, forecast}, threads);
  const app::RowFormat format(app::Format::jsonl, columns, "");
  SweepLines found;
  for (const app::SweepColumns::RowColumn& column : columns.all()) found.titles.push_back(column.title);
  app::in_order(
      grid.points(), threads, [&](unsigned thread, std::size_t point) { return answers.row(thread, point); },
      [&](std::size_t, const std::optional<app::SweepRow>& row) {
        if (row) found.lines.push_back(format.line(*row));
      });
  return found;
}

std::string search(const Asking& asked, const SearchCall& call) {
  search::SearchOptions options;
  options.objective = app::search_objective(call.objective, "objective");
  options.top = call.top;
  options.budget = call.budget;
  const app::SearchLimits limits = app::search_limits(call.within, "within");
  options.within = limits.step;
  options.most_memory = limits.memory;
  options.exhaustive = call.exhaustive;
  options.front = call.front;
  if (options.exhaustive && options.budget)
    throw InputError("budget", "found beside exhaustive, expected one of the two");
  const calibrate::MostThreads limit(call.threads);
  const search::Space space =
      app::search_space(scenario_of(asked, call.settings), options.objective, call.over, call.fix);
  return app::search_json(app::search_report(space, search::search(space, options, machines()), options.objective));
}

std::string plan(const std::vector<Asking>& asked, const PlanCall& call) {
  app::PlanOptions options{call.gpus, call.simulate_failures, call.seed};
  std::ranges::sort(options.gpus);
  options.gpus.erase(std::unique(options.gpus.begin(), options.gpus.end()), options.gpus.end());
  if (!options.gpus.empty() && options.gpus.front() == 0)
    throw InputError("gpus", "found 0, expected whole numbers above zero");
  return app::plan_json(
      app::planned_runs(questions_of(asked, call.settings, search::run_problems), options, call.threads, ""));
}

std::string layouts(const Asking& asked, const LayoutsCall& call) {
  const app::AskedStages stages = app::stages_named(call.stages, "stages");
  search::LayoutOptions options{.mesh = app::mesh_named(call.mesh, "mesh"), .stages = stages.count};
  if (call.groups > app::kMostLayoutGroups)
    throw InputError("groups", "found " + std::to_string(call.groups) + ", expected at most " +
                                   std::to_string(app::kMostLayoutGroups));
  if (call.groups > 0) options.groups = call.groups;
  app::check_alone(stages, options);
  return app::layout_json(
      app::chosen_layouts(scenario_of(asked, call.settings, search::layout_problems), options, stages, call.threads));
}

std::string sensitivity(const Asking& asked, const std::vector<std::string>& settings, unsigned threads) {
  const calibrate::MostThreads limit(threads);
  const schedules::Scenario scenario = scenario_of(asked, settings);
  return app::sensitivity_json({scenario, search::sensitivity(scenario, machines())});
}

namespace {

/// A side of a comparison: a scenario, or what somebody logged of a step.
struct Side {
  std::optional<app::Answer> answer{};  ///< of a scenario
  std::map<std::string, std::string> keys{};
};

/// `both`: laid over every scenario; `own`: over this one.
Side side_of(const Asking& asked, const std::vector<std::string>& both, const std::vector<std::string>& own,
             const std::string& row, const std::string& row_key) {
  const auto* tree = std::get_if<language::Node>(&asked);
  if (tree == nullptr && !app::holds_scenarios(std::get<std::string>(asked))) {
    if (!own.empty())
      throw InputError("set_a, set_b", "found beside " + std::get<std::string>(asked) + ", which is no scenario");
    return {};
  }
  std::vector<std::string> settings = both;
  settings.insert(settings.end(), own.begin(), own.end());
  Side side;
  side.answer.emplace(
      app::Answer{language::question_of_row(questions_of({asked}, settings), row, row_key), std::nullopt, {}});
  if (side.answer->question.of_table) return side;
  language::Library library(language::config_folders());
  const std::vector<std::vector<std::string>> layers{settings};
  side.keys = app::said_keys(tree != nullptr ? language::Variants(*tree, settings, std::move(library)).tree()
                                             : language::scenario_tree(std::get<std::string>(asked), layers, library));
  return side;
}

app::DiffSide told(Side& side, const Asking& asked, const std::string& row, const calibrate::TraceChoice& choice,
                   const Side& beside) {
  if (!side.answer)
    return app::logged_side(std::get<std::string>(asked), row, choice,
                            beside.answer ? &beside.answer->question.scenario : nullptr);
  app::DiffSide out = app::forecast_side(*side.answer, machines(), false);
  if (!side.answer->question.of_table) out.keys = side.keys;
  return out;
}

}  // namespace

std::string diff(const Asking& a, const Asking& b, const DiffCall& call) {
  const calibrate::TraceChoice choice{call.step.empty() ? std::nullopt : std::optional(call.step), call.device,
                                      std::max(call.steps, 1U)};
  Side first = side_of(a, call.settings, call.settings_a, call.row_a, "row_a"),
       second = side_of(b, call.settings, call.settings_b, call.row_b, "row_b");
  const app::DiffSide of_a = told(first, a, call.row_a, choice, second),
                      of_b = told(second, b, call.row_b, choice, first);
  if (of_a.step == Time{} || of_b.step == Time{}) throw InputError("diff", "found a step of no length");
  return app::diff_json(of_a, of_b, app::difference(of_a, of_b, call.stage));
}

std::string collective(const std::vector<std::string>& options) { return app::collective_as_json(options); }

std::string topology(const std::vector<std::string>& words) { return app::topology_as_json(words); }

}  // namespace stepcast::python
