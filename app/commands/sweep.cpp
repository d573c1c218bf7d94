#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/asked.h"
#include "app/command.h"
#include "app/freed_memory.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report_asked.h"
#include "app/simulate_word.h"
#include "app/sweep/in_turns.h"
#include "app/sweep/mark.h"
#include "app/sweep/plot.h"
#include "app/sweep/point_answers.h"
#include "app/sweep/rows_file.h"
#include "app/sweep/started_together.h"
#include "app/sweep/summary.h"
#include "app/sweep/table.h"
#include "calibrate/in_parallel.h"
#include "language/configs/config_folders.h"
#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/core/visible_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace po = boost::program_options;

CommandLine sweep_line() {
  const auto many = [] { return po::value<std::vector<std::string>>()->composing()->default_value({}, ""); };
  const auto word = [] { return po::value<std::string>()->default_value("", ""); };
  po::options_description options;
  // clang-format off
  options.add_options()
      ("axis", many(), "KEY=VALUES: the values that a key takes in turn, as a,b,c, 1:8, 1024:8192:1024 or '1:64:*2'; may be repeated: each with each")
      ("zip", many(), "KEY,KEY: these axes step together, value by value")
      ("where", many(), "a condition on keys and results; points where it does not hold are left out. All of several have to hold")
      ("simulate", word(), "all; fitting (the default): not what needs more than 1.25 times the memory there is; none: say only what fits")
      ("shard", word(), "I/N: only every N-th point, from the I-th on; 'stepcast merge' makes one of all")
      ("plot", word(), "draw the first two axes to this file, .svg or .png: a heat map, or of one axis a curve. Of more axes: the best plan that fits")
      ("plot-of", po::value<std::string>()->default_value("step_time_s"), "which result is drawn: mfu, tokens_per_s, peak_memory_bytes, ...")
      ("plot-as", word(), "heat-map, or curves: one for each value of the first of two axes");
  // clang-format on
  add_report_option(options);
  return asked_line(
      "usage: stepcast sweep SCENARIO.yaml|- --axis KEY=VALUES [--axis ...] [OPTIONS]\n\n"
      "Forecasts a scenario with every value of each axis, on all cores (docs/sweep.md). A point that cannot run, or "
      "does\n"
      "not fit, is a row that says why. With --output rows are in the file as they come; started again, a sweep that "
      "was\n"
      "interrupted goes on behind the rows that are there.\n\n"
      "  stepcast sweep scenarios/quickstart.yaml --axis parallelism.tensor=1:8:x2 --axis parallelism.pipeline=4:32:x2 "
      "\\\n"
      "      --set parallelism.data= --where 'parallelism.tensor*parallelism.pipeline<=64' --plot plans.svg\n"
      "  stepcast sweep scenarios/quickstart.yaml --axis 'cluster.nic_bandwidth=100 Gbit/s:800 Gbit/s:x2' \\\n"
      "      --axis recompute=none,selective,full --output rows.csv\n\n"
      "Exit status 1: no point could run, or one failed for a reason that is not its plan's; else 3: no point fits in "
      "the\n"
      "GPUs' memory. With --shard a sweep whose points all have their rows is done: 0.",
      options, {"table", "csv", "jsonl"});
}

/// Of --format, or by the ending of --output where that is not given.
Format format_asked(const Asked& asked) {
  if (!asked.values["format"].defaulted()) return asked.format;
  if (asked.output.ends_with(".csv")) return Format::csv;
  return asked.output.ends_with(".jsonl") ? Format::jsonl : Format::table;
}

schedules::ForecastOptions forecast_asked(const std::string& word) {
  schedules::ForecastOptions options;
  options.advise = false;
  options.simulate = simulate_word(word).value_or(schedules::Simulate::what_may_fit);
  return options;
}

/// What --plot, --plot-of and --plot-as ask for.
struct PlotAsked {
  std::string file;
  const schedules::ReportedQuantity* quantity = nullptr;
  bool curves = false;
};

PlotAsked plot_asked(const po::variables_map& values, const SweepGrid& grid, const SweepColumns& columns) {
  PlotAsked plot{word(values, "plot"), nullptr, grid.dimensions().size() == 1};
  if (plot.file.empty()) {
    for (const char* const option : {"plot-of", "plot-as"})
      if (!values[option].defaulted())
        throw InputError(std::string("--") + option, "found without --plot, expected it");
    return plot;
  }
  check_picture(plot.file, "--plot");
  const std::string key = word(values, "plot-of");
  std::vector<std::string_view> keys;
  for (const schedules::ReportedQuantity& quantity : schedules::quantities()) {
    if (!columns.of(quantity.key)) continue;
    keys.push_back(quantity.key);
    if (quantity.key == key) plot.quantity = &quantity;
  }
  if (plot.quantity == nullptr)
    throw InputError("--plot-of", "found " + in_quotes(key) + ", expected " + language::one_of(key, keys));
  const std::string as = word(values, "plot-as");
  if (as.empty()) return plot;
  if (as != "heat-map" && as != "curves")
    throw InputError("--plot-as", "found " + in_quotes(as) + ", expected one of heat-map, curves");
  if (as == "heat-map" && plot.curves)
    throw InputError("--plot-as", "found 'heat-map' of one axis, expected two or more");
  plot.curves = as == "curves";
  return plot;
}

/// Where the rows of a sweep go, and what is made of all of them.
class SweepRows {
 public:
  SweepRows(const SweepColumns& columns, bool keeps) : columns_(columns), keeps_(keeps) {}

  void add(SweepRow row) {
    summary_.add(columns_, row);
    if (keeps_) rows_.push_back(std::move(row));
  }
  void leave_out() { ++summary_.left_out; }

  const SweepSummary& summary() const { return summary_; }
  const std::vector<SweepRow>& all() const { return rows_; }

 private:
  const SweepColumns& columns_;
  const bool keeps_;  ///< a table or a drawing needs all of them at once
  SweepSummary summary_;
  std::vector<SweepRow> rows_;
};

/// A sweep as it was asked for, before any point is answered.
struct SweepAsked {
  const Asked& asked;
  Format format;
  SweepGrid grid;
  language::Variants base;
  SweepNames names;
  std::vector<Condition> conditions{};
  SweepColumns columns;
  PlotAsked plot;
  schedules::ForecastOptions forecast;
  std::optional<Shard> shard{};
  std::string page{};  ///< the file of --report, or nothing

  explicit SweepAsked(const Asked& given, std::vector<SweepAxis> axes)
      : asked(given),
        format(format_asked(given)),
        grid(std::move(axes), given.values["zip"].as<std::vector<std::string>>()),
        base(given.paths.front(), given.settings, profile(given), language::Library(language::config_folders())),
        names(grid, base.tree()),
        columns(grid),
        plot(plot_asked(given.values, grid, columns)),
        forecast(forecast_asked(word(given.values, "simulate"))) {
    const Vocabulary vocabulary = names.vocabulary();
    for (const std::string& text : given.values["where"].as<std::vector<std::string>>())
      conditions.emplace_back(text, vocabulary);
    if (const std::string text = word(given.values, "shard"); !text.empty()) {
      shard = read_shard(text);
      if (format == Format::table)
        throw InputError("--shard", "found " + text + " beside a table, expected --format csv or jsonl");
      refuse_with(given.values, "--shard, of a part of the points", {"plot", "report"});
    }
    page = report_asked(given.values);
  }
  SweepAsked(const SweepAsked&) = delete;

  /// Of this run, in order.
  std::size_t points() const {
    if (!shard) return grid.points();
    return (grid.points() + shard->of - shard->number) / shard->of;
  }
  std::size_t point(std::size_t i) const { return shard ? i * shard->of + shard->number - 1 : i; }

 private:
  static std::vector<language::Given> profile(const Asked& given) {
    const std::string file = word(given.values, "profile");
    if (file.empty()) return {};
    return {{"profile", file, {"--profile", 0, 0}}};
  }
};

/// Reads the rows that are there into `rows`; the number of points that they answer, left out ones among them.
class KeptRows {
 public:
  KeptRows(const SweepAsked& sweep, const RowFormat& format, const std::string& mark, SweepRows& rows)
      : sweep_(sweep), format_(format), mark_(mark), rows_(rows) {}

  void keep(std::string_view line) {
    const std::optional<RowMark> read = read_mark(sweep_.format, line);
    if (!read || ended_) refuse("which holds a line that is no row of this sweep");
    if (read->sweep != mark_)
      refuse("which holds rows of another sweep (" + read->sweep + ", this one is " + mark_ + ")");
    if (read->end) {
      if (read->end != sweep_.shard) refuse("which holds the rows of shard " + text(*read->end));
      leave_out_before([](const auto&) { return true; });
      ended_ = true;
      return;
    }
    if (sweep_.shard && !sweep_.shard->has(*read->point)) refuse("which holds rows of another shard");
    std::optional<SweepRow> row = format_.read(line);
    leave_out_before([&](const auto& point) { return point < *read->point; });
    if (!row || done_ == sweep_.points() || sweep_.point(done_) != *read->point)
      refuse("which holds a line that is no row of this sweep");
    rows_.add(*std::move(row));
    ++done_;
  }

  std::size_t done() const { return done_; }
  bool ended() const { return ended_; }  ///< the line behind a shard's rows is there

 private:
  /// Passes over the next points, which a condition of --where left out; without one each point has its row.
  void leave_out_before(const auto& is_before) {
    for (; done_ < sweep_.points() && is_before(sweep_.point(done_)); ++done_) {
      if (sweep_.conditions.empty()) refuse("which holds no row of point " + std::to_string(sweep_.point(done_) + 1));
      rows_.leave_out();
    }
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError("--output", "found " + in_quotes(sweep_.asked.output) + ", " + what +
                                     ", expected a new file or one that this sweep began");
  }

  const SweepAsked& sweep_;
  const RowFormat& format_;
  const std::string& mark_;
  SweepRows& rows_;
  std::size_t done_ = 0;
  bool ended_ = false;
};

/// What tells this sweep from others besides its scenario and axes.
std::string mark_of(SweepAsked& sweep) {
  std::vector<std::string> more = sweep.asked.values["where"].as<std::vector<std::string>>();
  const std::string simulate = word(sweep.asked.values, "simulate");
  more.push_back(simulate.empty() ? "fitting" : simulate);
  return sweep_mark(sweep.base, sweep.grid, more);
}

/// Whether any point of a shard fits says nothing of the whole sweep.
int exit_status(const SweepSummary& summary, bool some_failed, bool of_shard) {
  if (some_failed) return kFailed;
  if (of_shard || summary.fit > 0) return kDone;
  if (summary.do_not_fit > 0) return kDoesNotFit;
  return summary.cannot_run > 0 ? kFailed : kDone;
}

/// The rows as --format jsonl writes them, in one list.
std::string rows_json(const SweepAsked& sweep, std::span<const SweepRow> rows) {
  const RowFormat format(Format::jsonl, sweep.columns, "");
  std::string out = "{\"points\":[";
  for (const SweepRow& row : rows) out += (&row == &rows.front() ? "" : ",") + format.line(row);
  return out + "]}";
}

void write_end(const SweepAsked& sweep, const SweepRows& rows) {
  std::vector<NewFile> files;
  if (!sweep.page.empty()) {
    const PagePart part{.kind = "sweep", .title = sweep.base.name(), .document = rows_json(sweep, rows.all())};
    files.push_back({sweep.page, html_page({&part, 1})});
  }
  if (!sweep.plot.file.empty()) {
    const SweepPlot plot = plot_of(sweep.base.name(), sweep.grid, sweep.columns, rows.all(), *sweep.plot.quantity);
    files.push_back(
        {sweep.plot.file, picture(sweep.plot.curves ? curves_svg(plot) : heat_map_svg(plot), sweep.plot.file)});
  }
  if (sweep.format == Format::table) {
    const std::string fastest = fastest_text(rows.summary(), sweep.columns);
    files.push_back({sweep.asked.output, sweep_table(sweep.columns, rows.all()) + "\n" + summary_text(rows.summary()) +
                                             "\n" + (fastest.empty() ? "" : fastest + "\n")});
  }
  write_files(files);
}

unsigned threads_asked(const SweepAsked& sweep, const Processes* processes) {
  if (sweep.asked.threads > 0) return sweep.asked.threads;
  return std::max(1U, calibrate::cores() / (processes == nullptr ? 1 : processes->here()));
}

/// What the first process tells the others: of which sweep it is, and how many points are answered.
std::string told(const std::string& mark, std::size_t begun) { return mark + " " + std::to_string(begun); }

/// Another process than the first: answers its points, and has no file.
int help_with(SweepAsked& sweep, Processes& processes) {
  const std::string mark = mark_of(sweep), first = processes.told("");
  if (!first.starts_with(mark + " "))
    throw InputError("stepcast sweep", "process " + std::to_string(processes.number()) +
                                           " found other files, or is another version, than process 0; expected the "
                                           "same on all machines");
  const std::size_t begun = std::stoull(first.substr(mark.size() + 1));
  const unsigned threads = threads_asked(sweep, &processes);
  PointAnswers answers(sweep.base, {sweep.grid, sweep.names, sweep.conditions, sweep.columns, sweep.forecast}, threads);
  answer_in_turns(
      sweep.points() - begun, answers, threads, &processes, sweep.columns,
      [&](std::size_t i) { return sweep.point(begun + i); }, [](const std::optional<SweepRow>&) {});
  return kDone;
}

/// `processes`: null: this one alone.
int run_sweep(SweepAsked& sweep, Processes* processes) {
  if (processes != nullptr && processes->number() > 0) return help_with(sweep, *processes);
  const std::string mark = mark_of(sweep);
  std::vector<std::filesystem::path> inputs = sweep.base.library().files();
  inputs.push_back(sweep.base.file());
  check_outputs(
      std::vector<NamedFile>{named_output(sweep.asked.output), {"--plot", sweep.plot.file}, {"--report", sweep.page}},
      inputs);
  SweepRows rows(sweep.columns, sweep.format == Format::table || !sweep.plot.file.empty() || !sweep.page.empty());
  const RowFormat format(sweep.format, sweep.columns, mark);
  KeptRows kept(sweep, format, mark, rows);
  std::optional<RowsFile> file;
  if (sweep.format != Format::table)
    file.emplace(sweep.asked.output, format.header(), format.first_bytes(),
                 [&](std::string_view line) { kept.keep(line); });
  const std::size_t begun = kept.done();
  if (processes != nullptr) processes->told(told(mark, begun));
  const unsigned threads = threads_asked(sweep, processes);
  PointAnswers answers(sweep.base, {sweep.grid, sweep.names, sweep.conditions, sweep.columns, sweep.forecast}, threads);
  bool some_failed = false;
  {
    Progress progress(sweep.points(), begun);
    some_failed = answer_in_turns(
        sweep.points() - begun, answers, threads, processes, sweep.columns,
        [&](std::size_t i) { return sweep.point(begun + i); },
        [&](std::optional<SweepRow> row) {
          progress.one_done();
          if (!row) return rows.leave_out();
          if (file) file->append(format.line(*row));
          rows.add(*std::move(row));
        });
  }
  if (file && sweep.shard && !kept.ended()) file->append(format.end(*sweep.shard));
  write_end(sweep, rows);
  const SweepSummary& summary = rows.summary();
  if (sweep.format != Format::table && summary.cannot_run > 0)
    std::fprintf(stderr, "%s; the first that cannot run: %s\n", summary_text(summary).c_str(),
                 summary.first_error.c_str());
  return exit_status(summary, some_failed, sweep.shard.has_value());
}

/// A sweep of several processes ends for all where it fails for one: the others would wait for it.
int run_together(SweepAsked& sweep, Processes& processes) {
  const auto end_all = [&](const std::string& why, int status) {
    std::fprintf(stderr, "%s\n", language::visible(why).c_str());
    processes.end_all(status);
  };
  try {
    return run_sweep(sweep, &processes);
  } catch (const InputError& e) {
    end_all(e.what(), kBadInput);
  } catch (const std::exception& e) {
    end_all(std::string("stepcast: ") + e.what(), kFailed);
  }
  return kFailed;
}

int sweep(const std::vector<std::string>& words) {
  const auto asked = parse_asked(words, sweep_line());
  if (!asked) return kDone;
  if (asked->paths.empty()) throw InputError("stepcast sweep", "no scenario given; try scenarios/quickstart.yaml");
  if (asked->paths.size() > 1)
    throw InputError("stepcast sweep", "found " + std::to_string(asked->paths.size()) + " scenarios, expected one");
  std::vector<SweepAxis> axes;
  for (const std::string& text : asked->values["axis"].as<std::vector<std::string>>()) axes.push_back(read_axis(text));
  if (axes.empty())
    throw InputError("stepcast sweep", "no axis given, expected one such as --axis parallelism.tensor=1,2,4,8");
  for (const std::string& setting : asked->settings)
    for (const SweepAxis& axis : axes)
      if (setting.starts_with(axis.key + "="))
        throw InputError("--set",
                         "found " + in_quotes(setting) + " beside an axis of that key, expected one of the two");
  keep_freed_memory();
  SweepAsked sweep(*asked, std::move(axes));
  const std::unique_ptr<Processes> processes = processes_started_together();
  return processes ? run_together(sweep, *processes) : run_sweep(sweep, nullptr);
}

}  // namespace

extern const Command sweep_command;
constinit const Command sweep_command{"sweep", "forecast a scenario with every value of some keys", sweep_line, sweep};

}  // namespace stepcast::app
