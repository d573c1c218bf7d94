#include "app/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/band.h"
#include "app/report/csv_columns.h"
#include "app/report/figure.h"
#include "app/report/how_many.h"
#include "app/report/paragraph.h"
#include "app/report/percent.h"
#include "app/report/simulated_plan.h"
#include "app/report/stage_lines.h"
#include "app/report/text_table.h"
#include "app/report/time_unit.h"
#include "language/core/visible_text.h"
#include "schedules/results/memory_kinds.h"
#include "schedules/results/time_parts.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using schedules::Forecast;
using schedules::kMemoryKinds;
using schedules::MemoryKind;
using schedules::MemoryUse;
using schedules::ReportedQuantity;
using schedules::StageReport;
using schedules::TimePart;
using Align = TextTable::Align;

constexpr std::size_t kMostStageLines = 16;
constexpr std::size_t kTitleWidth = 18, kPlanWidth = 112;  // columns
constexpr double kWorthSaying = 0.1;                       // of the model FLOPs

/// All but those that are seldom anything and print as nothing of every stage here.
std::vector<TimePart> shown_parts(const Forecast& f) {
  const double least = unit_of(f.step).seconds * 0.0005;
  const auto prints = [&](const TimePart& part) {
    return std::ranges::any_of(f.stages,
                               [&](const StageReport& stage) { return to_seconds(stage.time.*part.time) >= least; });
  };
  std::vector<TimePart> parts;
  for (const TimePart& part : schedules::kTimeParts)
    if (part.always_shown || prints(part)) parts.push_back(part);
  return parts;
}

std::string in(const TimeUnit& unit, double t) { return t == 0 ? "-" : fmt::format("{:.3f}", t / unit.seconds); }
std::string gib(Bytes n) {
  return n == Bytes{} ? "-" : fmt::format("{:.2f}", static_cast<double>(n.value) / (1LL << 30));
}

/// "3", or "1-6" for a group, with " ~" where its stages differ.
std::string label(const StageLine& line, const std::vector<StageReport>& stages) {
  std::string text = std::to_string(stages[line.first].stage);
  if (line.last > line.first) text += "-" + std::to_string(stages[line.last].stage);
  return text + (line.differ ? " ~" : "");
}

bool some_differ(const std::vector<StageLine>& lines) { return std::ranges::any_of(lines, &StageLine::differ); }

/// What was simulated: the plan that the scenario says, and what it leaves open.
std::string plan_lines(const Answer& answer) {
  const std::vector<PlanPart> plan = simulated_plan(answer.question);
  const std::size_t width = tables_shown_on() ? std::min(tables_shown_on()->width, kPlanWidth) : kPlanWidth;
  std::string out;
  for (const bool by_default : {false, true})
    if (const std::string words = plan_words(plan, by_default); !words.empty())
      out += paragraph(fmt::format("  {:<{}}", by_default ? "by default" : "plan", kTitleWidth), words, width,
                       kTitleWidth);
  return out;
}

std::string headline(const Answer& answer) {
  const Forecast& f = *answer.forecast;
  const auto& measured = answer.question.scenario.measured;
  std::string out = language::visible(answer.question.name) + "\n\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    out += shown_line(fmt::format("  {:<{}}", name, kTitleWidth), language::visible(value), kTitleWidth);
  };
  const auto digits = [](Time t) { return fmt::format("{:.4g} s", to_seconds(t)); };
  std::string step = digits(f.step);
  if (measured.step_time)
    step += fmt::format("   measured {}, error {}", digits(*measured.step_time),
                        signed_percent(f.step / *measured.step_time - 1));
  line("step time", step);
  if (answer.band) {
    line("band", band_text(answer.band) + "   " + band_basis(*answer.band));
    if (!answer.band->in_range) line("* out of range", reasons_text(*answer.band));
  }
  const double rate = f.tokens_per_second.value_or(f.samples_per_second);
  line(f.tokens_per_second ? "tokens/s" : "samples/s",
       fmt::format("{}   {} per GPU", rounded(rate, 0), rounded(rate / static_cast<double>(f.gpus), 1)));
  std::string flops =
      fmt::format("{} TFLOP/s per GPU   MFU {:.1f}%", rounded(f.model_flops_per_gpu.value / 1e12, 1), 100 * f.mfu);
  if (f.skipped_flops >= kWorthSaying)
    flops += fmt::format(", {:.1f}% without the half of attention that causal kernels skip",
                         100 * f.mfu * (1 - f.skipped_flops));
  line("model FLOP/s", flops);
  const std::string active =
      f.active_parameters < f.parameters ? fmt::format(", {:.3f} active,", f.active_parameters / 1e9) : std::string();
  std::string where = " on " + how_many(f.gpus, "GPU");
  if (f.trained_parameters) where += fmt::format(", {:.1f} million trained", *f.trained_parameters / 1e6);
  line("parameters", f.tokens_per_second || f.parameters >= 1e9
                         ? fmt::format("{:.3f} billion{}", f.parameters / 1e9, active) + where
                         : fmt::format("{:.3f} million", f.parameters / 1e6) + where);
  out += plan_lines(answer);
  if (f.layer_forward && f.layer_backward)
    line("one layer", fmt::format("forward {}   backward {}", text(*f.layer_forward), text(*f.layer_backward)));
  const MemoryUse& first = f.stages.front().memory;
  if (first.host.sum() + first.nvme.sum() > Bytes{})
    line("offloaded",
         fmt::format("{} in host memory, {} on drives, for each GPU", text(first.host.sum()), text(first.nvme.sum())));
  const auto node_line = [&](std::string_view name, const std::optional<schedules::NodeMemory>& memory) {
    if (memory)
      line(name, memory->size ? fmt::format("{} of {} on the fullest node", text(memory->used), text(*memory->size))
                              : fmt::format("{} on the fullest node, of a size not known", text(memory->used)));
  };
  node_line("host memory", f.host_memory);
  node_line("drives", f.drives);
  if (f.fusion)
    line("fusion", fmt::format("saves {:.0f} of {:.0f} launches, {:.2f} of {:.2f} GB of memory traffic a micro-batch",
                               f.fusion->launches, f.fusion->launches_unfused, f.fusion->bytes / 1e9,
                               f.fusion->bytes_unfused / 1e9));
  if (const std::uint32_t local = answer.question.scenario.data_parallel.local_steps; local > 1)
    line("local steps", fmt::format("{}, then parameters are averaged; times are means over them", local));
  if (f.staleness)
    line("staleness",
         fmt::format("{:.1f} updates by other workers from reading to updating, at most {}; step: time for "
                     "one step of each",
                     f.staleness->mean, f.staleness->most));
  if (f.at_least)
    line("at least", fmt::format("{}, if groups whose ways through the fabric collide unlike were all as fast as the "
                                 "fastest; here {}",
                                 digits(*f.at_least),
                                 f.drift ? "each takes what it takes if all begin together, and in truth they drift "
                                           "apart. --detail transfers lets them"
                                         : "all take the slowest's time. --unfold gives each its own"));
  if (f.perfect)
    line("imperfections",
         fmt::format("{} on {} without them", signed_percent(f.step / *f.perfect - 1), digits(*f.perfect)));
  for (const auto& share : f.shares)
    line(&share == &f.shares.front() ? "shares" : "",
         fmt::format("{} x {}: {} each, {} of memory", share.gpus, share.gpu, how_many(share.micro_batch, "sample"),
                     text(share.peak)));
  if (f.busiest_link)
    line("busiest link",
         fmt::format("{}, {:.0f}% of the step", f.busiest_link->name, 100 * f.busiest_link->utilisation));
  for (const ReportedQuantity& quantity : schedules::quantities())
    if (const std::string value = text(figure(quantity, answer), quantity.unit); quantity.places.line && !value.empty())
      line(quantity.title, value);
  return out;
}

/// What bars are made of, where there are any.
std::string legend_text(std::string_view indent) {
  if (!tables_shown_on()) return {};
  return fmt::format("\n{}{}\n", indent, bar_legend(*tables_shown_on()));
}

std::string time_table(const Forecast& f) {
  const std::vector<TimePart> parts = shown_parts(f);
  const TimeUnit unit = unit_of(f.step);
  std::vector<TextTable::Column> columns{{"stage", Align::left}};
  for (const TimePart& part : parts) columns.push_back({std::string(part.title), Align::right});
  TextTable table(std::move(columns));
  const auto add = [&](const std::string& name, std::vector<std::string> cells) {
    cells.insert(cells.begin(), name);
    table.add(std::move(cells));
  };
  const auto mean = [&](const TimePart& part, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i <= last; ++i) sum += to_seconds(f.stages[i].time.*part.time);
    return sum / static_cast<double>(last - first + 1);
  };
  std::vector<StageCells> stages(f.stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (const TimePart& part : parts) {
      stages[i].figures.push_back(mean(part, i, i));
      stages[i].cells.push_back(in(unit, stages[i].figures.back()));
    }
  const std::vector<StageLine> lines = stage_lines(stages, kMostStageLines);
  std::vector<Bar> bars;
  for (const StageLine& line : lines) {
    std::vector<std::string> cells;
    for (const TimePart& part : parts) cells.push_back(in(unit, mean(part, line.first, line.last)));
    add(label(line, f.stages), std::move(cells));
    bars.push_back(step_bar(std::span(f.stages).subspan(line.first, line.last - line.first + 1)));
  }
  std::vector<std::string> means;
  for (const TimePart& part : parts) {
    const double share = mean(part, 0, f.stages.size() - 1) / to_seconds(f.step);
    means.push_back(share == 0 ? std::string("-") : fmt::format("{:.1f}%", 100 * share));
  }
  add("mean", std::move(means));
  bars.push_back(step_bar(f.stages));
  table.draw_bars(parts.size(), std::move(bars));
  const std::string title =
      fmt::format("Where the step goes, {} (tensor, pipeline, data: communication that nothing hides{})", unit.name,
                  some_differ(lines) ? "; ~ the mean of stages that differ" : "");
  return shown_line("", title, 0) + "\n" + table.text("  ") + legend_text("  ");
}

std::string memory_table(const Forecast& f, Bytes capacity) {
  std::vector<TextTable::Column> columns{{"stage", Align::left}};
  for (const MemoryKind& kind : kMemoryKinds) columns.push_back({std::string(kind.title), Align::right});
  columns.push_back({"peak", Align::right});
  columns.push_back({"in flight", Align::right});
  TextTable table(std::move(columns));
  const auto peak = std::ranges::max_element(f.stages, {}, [](const StageReport& s) { return s.memory.peak(); });
  const auto peak_stage = static_cast<std::size_t>(peak - f.stages.begin());
  std::vector<StageCells> stages;
  for (const StageReport& stage : f.stages) {
    StageCells& one = stages.emplace_back();
    for (const MemoryKind& kind : kMemoryKinds) {
      one.figures.push_back(static_cast<double>((stage.memory.*kind.on_gpu).value));
      one.cells.push_back(gib(stage.memory.*kind.on_gpu));
    }
    one.cells.push_back(gib(stage.memory.peak()));
    one.cells.push_back(std::to_string(stage.in_flight));
  }
  const std::vector<StageLine> lines = stage_lines(stages, kMostStageLines);
  for (const StageLine& line : lines) {
    std::size_t fullest = line.first;
    for (std::size_t i = line.first; i <= line.last; ++i)
      if (f.stages[i].memory.peak() > f.stages[fullest].memory.peak()) fullest = i;
    std::vector<std::string> cells = stages[fullest].cells;
    const bool has_peak = line.first <= peak_stage && peak_stage <= line.last;
    cells.insert(cells.begin(), label(line, f.stages) + (has_peak && f.stages.size() > 1 ? " *" : ""));
    table.add(std::move(cells));
  }
  return fmt::format("Memory per GPU, GiB of {}{}{}\n\n", text(capacity),
                     f.stages.size() > 1 ? " (* the fullest stage" : "",
                     f.stages.size() == 1 ? ""
                     : some_differ(lines) ? "; ~ the fullest of stages that differ)"
                                          : ")") +
         table.text("  ");
}

/// What was chosen for the user and which keys change nothing; empty where there is nothing to know.
std::string notes_text(const std::vector<schedules::Note>& notes) {
  if (notes.empty()) return {};
  std::size_t widest = 0;
  for (const schedules::Note& note : notes) widest = std::max(widest, note.key.size());
  std::string out = "\nNotes\n\n";
  for (const schedules::Note& note : notes)
    out += shown_line(fmt::format("  {:<{}}  ", note.key, widest), note.text, widest + 2);
  return out;
}

/// Of what was not simulated.
std::string short_headline(const Answer& answer) {
  const Forecast& f = *answer.forecast;
  const bool billions = f.parameters >= 1e9;
  return fmt::format("{}\n\n  {:.3f} {} parameters on {}, not simulated\n", language::visible(answer.question.name),
                     f.parameters / (billions ? 1e9 : 1e6), billions ? "billion" : "million", how_many(f.gpus, "GPU")) +
         plan_lines(answer);
}

std::string in_full(const Answer& answer) {
  const Forecast& f = *answer.forecast;
  std::string out = (f.simulated ? headline(answer) + "\n" + time_table(f) : short_headline(answer)) + "\n" +
                    memory_table(f, answer.question.scenario.cluster.gpu.memory);
  if (f.out_of_memory) out += "\n" + shown_line("", language::visible(memory_message(*f.out_of_memory)));
  return out + notes_text(answer.question.notes);
}

}  // namespace

std::string run_table(std::span<const Answer> answers) {
  if (answers.size() == 1 && answers[0].forecast) return in_full(answers[0]);
  const auto counts_tokens = [](const Answer& a) { return a.forecast && a.forecast->tokens_per_second; };
  const auto counts_samples = [](const Answer& a) {
    return a.forecast && a.forecast->simulated && !a.forecast->tokens_per_second;
  };
  const bool has_tokens = std::ranges::any_of(answers, counts_tokens);
  const bool has_samples = std::ranges::any_of(answers, counts_samples);
  const auto rate = [&](const Forecast& f) {
    const std::string value = rounded(f.tokens_per_second.value_or(f.samples_per_second), 0);
    return has_tokens && has_samples ? value + (f.tokens_per_second ? " tokens" : " samples") : value;
  };
  TextTable table({{"name", Align::left},
                   {"GPUs"},
                   {"step"},
                   {"80% band"},
                   {has_samples ? has_tokens ? "per second" : "samples/s" : "tokens/s"},
                   {"TFLOP/s/GPU"},
                   {"MFU"},
                   {"memory"},
                   {"", Align::left}});
  std::vector<Bar> bars;
  for (const Answer& a : answers) {
    bars.push_back(a.forecast && a.forecast->simulated ? step_bar(a.forecast->stages) : Bar{});
    if (!a.forecast) {
      table.add({a.question.name, "-", "-", "-", "-", "-", "-", "-", a.question.error});
      continue;
    }
    const Forecast& f = *a.forecast;
    if (!f.simulated) {
      table.add({a.question.name, std::to_string(f.gpus), "-", "-", "-", "-", "-", text(peak_memory(f)),
                 f.out_of_memory ? memory_message(*f.out_of_memory) : "fits"});
      continue;
    }
    table.add({a.question.name, std::to_string(f.gpus), fmt::format("{:.4g} s", to_seconds(f.step)), band_text(a.band),
               rate(f), rounded(f.model_flops_per_gpu.value / 1e12, 1), fmt::format("{:.1f}%", 100 * f.mfu),
               text(peak_memory(f)), f.out_of_memory ? memory_message(*f.out_of_memory) : ""});
  }
  const bool star = std::ranges::any_of(answers, [](const Answer& a) { return a.band && !a.band->in_range; });
  constexpr std::size_t kStep = 2;  // column
  table.draw_bars(kStep, std::move(bars));
  return table.text() + legend_text("") + (star ? kStarLine : "");
}

std::string run_csv(std::span<const Answer> answers) {
  const std::vector<const ReportedQuantity*> columns = csv_columns();
  const auto add = [](std::vector<std::string>& cells, const std::vector<std::string>& more) {
    cells.insert(cells.end(), more.begin(), more.end());
  };
  std::vector<std::string> titles{"name"};
  for (const ReportedQuantity* column : columns) titles.emplace_back(column->key);
  add(titles, {"out_of_memory", "error", "low_s", "high_s", "in_range"});
  std::string out = csv_line(titles);
  for (const Answer& a : answers) {
    std::vector<std::string> cells{a.question.name};
    for (const ReportedQuantity* column : columns) cells.push_back(plain_text(figure(*column, a)));
    if (a.forecast)
      add(cells, {a.forecast->out_of_memory ? memory_message(*a.forecast->out_of_memory) : "", ""});
    else
      add(cells, {"", a.question.error});
    add(cells, band_cells(a.band));
    out += csv_line(cells);
  }
  return out;
}

}  // namespace stepcast::app
