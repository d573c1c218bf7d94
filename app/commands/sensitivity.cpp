#include "search/sensitivity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "app/asked.h"
#include "app/command.h"
#include "app/output.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report/sensitivity_report.h"
#include "app/report_asked.h"
#include "app/status_line.h"
#include "calibrate/in_parallel.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// Of memory, for what machines remember of collectives.
constexpr std::size_t kSensitivityMachineBytes = std::size_t{256} << 20;

CommandLine sensitivity_line() {
  namespace po = boost::program_options;
  po::options_description options;
  options.add_options()("price", po::value<std::vector<std::string>>()->composing()->default_value({}, ""),
                        "RESOURCE=MONEY: what one per cent more of it costs; may be repeated")(
      "plot", po::value<std::string>()->default_value("", ""), "draw the elasticities to this .svg or .png");
  add_report_option(options);
  std::string usage =
      "usage: stepcast sensitivity SCENARIO.yaml|- [OPTIONS]\n\n"
      "Says what a step waits for: by how much it gets shorter if one resource gets 1% better, or twice as good, each\n"
      "simulated anew, and where the time of the critical path goes. docs/sensitivity.md explains the columns.\n\n"
      "  stepcast sensitivity scenarios/quickstart.yaml\n"
      "  stepcast sensitivity scenarios/quickstart.yaml --price network=4000 --plot bars.svg\n\n"
      "Resources:\n";
  for (const search::RatedResource& each : search::resources())
    usage += "  " + std::string(each.name) + std::string(19 - each.name.size(), ' ') + std::string(each.meaning) + "\n";
  return asked_line(usage + "\nExit status 3: the plan does not fit in the GPUs' memory.", options);
}

/// RESOURCE=MONEY, each resource once.
std::map<std::string, double> prices_asked(const std::vector<std::string>& words) {
  std::vector<std::string_view> names;
  for (const search::RatedResource& each : search::resources()) names.push_back(each.name);
  std::map<std::string, double> prices;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw InputError("--price", "found " + in_quotes(word) + ", expected RESOURCE=MONEY");
    const std::string name = word.substr(0, equals), money = word.substr(equals + 1);
    if (std::ranges::find(names, name) == names.end())
      throw InputError("--price", "found " + in_quotes(name) + ", expected " + language::one_of(name, names));
    double value = 0;
    const auto [end, error] = std::from_chars(money.data(), money.data() + money.size(), value);
    if (error != std::errc{} || end != money.data() + money.size() || !std::isfinite(value) || value <= 0)
      throw InputError("--price", name + ": found " + in_quotes(money) + ", expected a number above 0");
    if (!prices.emplace(name, value).second) throw InputError("--price", name + " is said twice, expected once");
  }
  return prices;
}

int tell_sensitivity(const std::vector<std::string>& words) {
  const auto asked = parse_asked(words, sensitivity_line());
  if (!asked) return kDone;
  if (asked->paths.empty())
    throw InputError("stepcast sensitivity", "no scenario given; try scenarios/quickstart.yaml");
  const auto prices = prices_asked(asked->values["price"].as<std::vector<std::string>>());
  const std::string plot = word(asked->values, "plot");
  if (!plot.empty()) check_picture(plot, "--plot");
  const std::string page = report_asked(asked->values);
  const auto questions = questions_asked(*asked, {{"--plot", plot}, {"--report", page}});
  if (!questions) return kBadInput;
  if (questions->size() != 1)
    throw InputError("stepcast sensitivity", "found " + std::to_string(questions->size()) + " scenarios, expected one");
  const language::Question& question = questions->front();
  if (!question.error.empty()) throw InputError("", question.error);

  const calibrate::MostThreads limit(asked->threads);
  workload::Machines machines(kSensitivityMachineBytes);
  const SensitivityReport report{
      question.scenario,
      said_meanwhile("simulating each resource", [&] { return search::sensitivity(question.scenario, machines); }),
      prices};
  for (const auto& price : prices)
    if (std::ranges::none_of(report.sensitivity.effects,
                             [&](const auto& each) { return each.resource->name == price.first; }))
      throw InputError("--price", "found " + price.first + ", which this scenario has not");
  std::vector<NewFile> files;
  if (!plot.empty()) files.push_back({plot, picture(sensitivity_svg(report), plot)});
  if (!page.empty()) {
    const PagePart part{.kind = "sensitivity", .title = question.scenario.name, .document = sensitivity_json(report)};
    files.push_back({page, html_page({&part, 1})});
  }
  files.push_back({asked->output, asked->format == Format::json  ? sensitivity_json(report)
                                  : asked->format == Format::csv ? sensitivity_csv(report)
                                                                 : sensitivity_table(report)});
  write_files(files);
  return report.sensitivity.forecast.out_of_memory ? kDoesNotFit : kDone;
}

}  // namespace

extern const Command sensitivity_command;
constinit const Command sensitivity_command{"sensitivity", "which resource a step waits for, and what more of it saves",
                                            sensitivity_line, tell_sensitivity};

}  // namespace stepcast::app
