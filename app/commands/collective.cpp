#include "app/commands/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "app/command.h"
#include "app/format.h"
#include "app/hashings.h"
#include "app/logged_operation.h"
#include "app/named_files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/report/collective_report.h"
#include "app/report/how_many.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report/steps_svg.h"
#include "app/report/tuning_report.h"
#include "app/report_asked.h"
#include "app/setting.h"
#include "app/sizes.h"
#include "calibrate/logs/nccl_tests.h"
#include "collectives/algorithms.h"
#include "collectives/nccl/search.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/timer.h"
#include "language/configs/config_folders.h"
#include "language/core/file_text.h"
#include "language/core/library.h"
#include "language/core/operation_named.h"
#include "language/core/streams.h"
#include "language/tables/pair_weights.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using collectives::Operation;

/// With --algorithm all: communicators over which every algorithm is simulated whole, if it must be.
constexpr std::uint32_t kMostWhole = 512;

/// What a log measured of an operation, and what it says of the run.
struct LoggedRun {
  std::vector<calibrate::NcclTestsRow> rows{};
  std::uint32_t gpus_per_process = 0;  ///< 0: it does not say
  std::string nccl_version{};          ///< "": it does not say
  bool is_rccl = false;                ///< that release is of RCCL
};

/// The tables of this operation, or those that do not say which they are of.
LoggedRun read_measured(std::span<const calibrate::NcclTestsTable> tables, const std::string& shown,
                        Operation operation, std::uint32_t ranks) {
  LoggedRun measured;
  for (const calibrate::NcclTestsTable& table : tables) {
    if (!table.operation.empty() && table.operation != collectives::name(operation)) continue;
    const std::string place = shown + ":" + std::to_string(table.line);
    if (table.ranks != 0 && table.ranks != ranks) {
      throw InputError(
          shown, fmt::format("found a table of {} ranks, expected {}: give --gpus or --nodes", table.ranks, ranks));
    }
    if (table.operation.empty() && !has_redop_of(table, operation)) {
      throw InputError(place,
                       fmt::format("found a table whose redop is {}, expected {}, as --op {} has",
                                   *table.reduces ? "that of a sum" : "'none'",
                                   reduces(operation) ? "that of a sum" : "'none'", collectives::name(operation)));
    }
    if (!measured.rows.empty() &&
        (measured.gpus_per_process != table.gpus_per_process || measured.nccl_version != table.nccl_version)) {
      throw InputError(place,
                       "found a table of another NCCL or of other -g and -t than the one before, expected a log of "
                       "one run");
    }
    measured.gpus_per_process = table.gpus_per_process;
    measured.nccl_version = table.nccl_version;
    measured.is_rccl = table.is_rccl;
    measured.rows.insert(measured.rows.end(), table.rows.begin(), table.rows.end());
  }
  if (measured.rows.empty()) throw InputError(shown, "found no table of " + std::string(collectives::name(operation)));
  if (measured.rows.size() > kMostSizes) {
    throw InputError(shown, fmt::format("found {} rows of {}, expected at most 1000", measured.rows.size(),
                                        collectives::name(operation)));
  }
  return measured;
}

/// GPUs of a process: as --gpus-per-process says, else as the log does, else one; a note says which.
std::uint32_t gpus_per_process(const boost::program_options::variables_map& values, const LoggedRun& measured,
                               CollectiveReport& report) {
  const bool said = values.count("gpus-per-process") != 0;
  const std::uint32_t found =
      said ? values["gpus-per-process"].as<std::uint32_t>() : std::max(measured.gpus_per_process, 1u);
  if (found == 0 || report.ranks % found != 0)
    throw InputError(said ? "--gpus-per-process" : language::shown_path(report.log),
                     fmt::format("found {}{}, expected a number that divides the {} GPUs", found,
                                 said ? "" : " GPUs a process (-g times -t)", report.ranks));
  if (!said && measured.gpus_per_process == 0)
    report.notes.push_back("one GPU a process is assumed, as the log does not say (-g and -t): --gpus-per-process");
  else if (!said)
    report.notes.push_back(
        fmt::format("{} a process, as the log says", found == 1 ? "one GPU" : fmt::format("{} GPUs", found)));
  return found;
}

/// The release of NCCL: as the stack or --set say, else as the log does; a note says which.
void take_release(const boost::program_options::variables_map& values, const LoggedRun& measured,
                  collectives::Transport& transport, CollectiveReport& report) {
  const auto of_release = [](const std::string& setting) {
    return setting.starts_with("transport.nccl_version=") || setting.starts_with("software.transport.nccl_version=");
  };
  const bool said = transport.nccl_version != collectives::Transport{}.nccl_version ||
                    std::ranges::any_of(values["set"].as<std::vector<std::string>>(), of_release);
  if (said) return;
  if (measured.nccl_version.empty()) {
    report.notes.push_back("NCCL " + transport.nccl_version +
                           " is assumed, as the log does not say which it was: --set transport.nccl_version=");
    return;
  }
  transport.nccl_version = measured.nccl_version;
  report.notes.push_back(measured.is_rccl
                             ? "RCCL " + transport.nccl_version + ", as the log says, taken as the NCCL of that " +
                                   "release, which it is made of: AMD's changes to its choices are not known here"
                             : "NCCL " + transport.nccl_version + ", as the log says");
}

/// The log that is compared with, and what its run was as far as anybody says it. Beside a log a step's algorithms are
/// taken where --algorithm is not given, as the fits do.
LoggedRun read_logged(const boost::program_options::variables_map& values, collectives::Transport& transport,
                      CollectiveReport& report) {
  const std::string shown = language::shown_path(report.log);
  const std::vector<calibrate::NcclTestsTable> tables =
      calibrate::parse_nccl_tests(language::read_file(report.log, shown), shown);
  if (values["op"].defaulted()) {
    LoggedOperation logged = logged_operation(tables, report.ranks, shown);
    report.operation = logged.operation;
    report.notes.push_back(std::move(logged.note));
  }
  LoggedRun measured = read_measured(tables, shown, report.operation, report.ranks);
  measured.gpus_per_process = gpus_per_process(values, measured, report);
  take_release(values, measured, transport, report);
  if (values["algorithm"].as<std::string>().empty())
    report.notes.push_back(transport.as_nccl_picks
                               ? "algorithms as NCCL's own model picks them: --algorithm"
                               : "the fastest algorithms, as the stack does not pick as NCCL: --algorithm");
  return measured;
}

/// What --uneven names, of so many ranks.
std::vector<std::int64_t> read_uneven(const std::string& file, Operation operation, std::uint32_t ranks) {
  if (operation != Operation::all_to_all)
    throw InputError("--uneven", "found " + in_quotes(file) + " beside --op " +
                                     std::string(collectives::name(operation)) +
                                     ", expected --op all_to_all, which alone has a size for each pair of ranks");
  std::vector<std::int64_t> weights = language::read_pair_weights(file);
  if (weights.size() != std::size_t{ranks} * ranks)
    throw InputError(language::shown_path(file),
                     fmt::format("found a table of {} numbers, expected {} rows of {}: one for each "
                                 "of the GPUs",
                                 weights.size(), ranks, ranks));
  for (std::size_t row = 0; row < ranks; ++row) {
    const auto first = weights.begin() + static_cast<std::ptrdiff_t>(row * ranks);
    const std::int64_t sum = std::accumulate(first, first + ranks, std::int64_t{0});
    if (sum > std::numeric_limits<std::int32_t>::max())
      throw InputError(language::shown_path(file),
                       fmt::format("found a sum of {} in row {}, expected at most 2147483647", sum, row + 1));
  }
  if (std::ranges::count(weights, 0) == std::ssize(weights))
    throw InputError(language::shown_path(file), "found nothing but 0, expected what one rank at least sends another");
  return weights;
}

/// "ring,tree": algorithms by their names, each once. Nothing: no list.
std::optional<std::vector<std::string>> listed_algorithms(const std::string& word) {
  if (word.find(',') == word.npos) return std::nullopt;
  std::vector<std::string> names;
  std::istringstream list(word);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "auto" || name == "nccl" || name == "library" || name == "all" || name.empty())
      throw InputError("--algorithm", "found " + in_quotes(name) + " in a list, expected names of algorithms");
    if (std::ranges::find(names, name) != names.end())
      throw InputError("--algorithm", "found " + in_quotes(name) + " twice in a list, expected each once");
    names.push_back(name);
  }
  return names;
}

/// Throws InputError for a name that is none of --algorithm's.
void known_algorithm(const std::string& name) {
  try {
    collectives::algorithm(name, "auto, nccl, library, all");
  } catch (const InputError& unknown) {
    throw InputError("", "--" + std::string(unknown.what()));
  }
}

/// The algorithms that --algorithm means: one, some, or all that can do it over these GPUs.
std::vector<std::string> algorithms_named(const std::string& word, Operation operation,
                                          const topology::Cluster& cluster, const collectives::Group& group,
                                          const collectives::Timer& timer, const collectives::Details& details) {
  if (auto names = listed_algorithms(word)) return *std::move(names);
  if (word != "all") {
    const std::string name = word.substr(0, word.find('/'));  // a protocol stands behind
    if (name != "auto" && name != "nccl" && name != "library") known_algorithm(name);
    return {word};
  }
  if (group.size() < 2) throw InputError("--algorithm", "found 'all' over 1 GPU, expected at least 2");
  const auto gpus = static_cast<std::uint32_t>(group.size());
  collectives::Request request =
      request_on(cluster, collectives::place(cluster, std::span(&group, 1)), operation, gpus, {});
  request.servers = details.servers;
  request.pair_elements = details.pair_weights;
  std::vector<std::string> names;
  for (const collectives::Algorithm* each : collectives::algorithms()) {
    const bool folds = each->tree || each->symmetry(request) != collectives::Symmetry{};
    if (group.size() > kMostWhole && !folds) continue;
    try {
      timer.time(operation, {0}, std::span(&group, 1), each->name, true, details);
      names.emplace_back(each->name);
    } catch (const InputError&) {  // cannot do this one
    }
  }
  if (names.empty())
    throw InputError("--op", "no algorithm can do this over " + std::to_string(group.size()) + " GPUs");
  return names;
}

/// Of one group. NCCL returns at once from a collective of nothing (src/enqueue.cc, taskAppend). The collectives' own
/// rules name an option without its dashes: here it has them.
collectives::Timing time_one(const collectives::Timer& timer, collectives::Operation operation, Bytes size,
                             const collectives::Group& group, const std::string& algorithm,
                             const collectives::Details& details) {
  try {
    collectives::Timing timing = timer.time(operation, size, std::span(&group, 1), algorithm, true, details);
    if (size == Bytes{}) timing.duration = timing.interval = {};
    return timing;
  } catch (const InputError& e) {
    const std::string_view what = e.what();
    if (details.servers > 0 && what.starts_with("algorithm: none can do"))
      throw InputError("--servers", fmt::format("found '{}' beside --op {}, expected --op all_reduce, which parameter "
                                                "servers do",
                                                details.servers, collectives::name(operation)));
    for (const std::string_view option : {"algorithm: ", "servers: "})
      if (what.starts_with(option)) throw InputError("", "--" + std::string(what));
    throw;
  } catch (const std::overflow_error& e) {
    throw InputError("--sizes", std::string("a collective of these would take too long: ") + e.what());
  }
}

/// What is timed: each of the algorithms on each of the sizes.
struct SizeSweep {
  Operation operation;
  const std::vector<Bytes>& sizes;
  const std::vector<std::string>& algorithms;
  const collectives::Group& group;
  const collectives::Details& details;
};

/// Size by size. `explained`: gets what --explain says of the largest; null: nobody asks.
std::vector<CollectiveResult> rows_of(const SizeSweep& asked, const collectives::Timer& timer,
                                      const topology::Cluster& cluster, Progress& progress, std::string* explained) {
  std::vector<CollectiveResult> rows;
  for (const Bytes& size : asked.sizes)
    for (const std::string& name : asked.algorithms) {
      const collectives::Timing timing = time_one(timer, asked.operation, size, asked.group, name, asked.details);
      rows.push_back({timing.algorithm, timing.protocol, size, timing.duration});
      progress.one_done();
      if (explained != nullptr && &size == &asked.sizes.back()) *explained += explain(timing, size, cluster);
    }
  return rows;
}

/// One after the other on each of these clusters, which differ in their fabric's hashing alone. Of a row whose
/// algorithm was chosen, the one named is that of a hashing in the middle.
std::vector<CollectiveResult> rows_over_hashings(const SizeSweep& asked,
                                                 std::span<const schedules::ClusterSpec> clusters,
                                                 const collectives::Transport& transport, Progress& progress) {
  const std::size_t rows = asked.sizes.size() * asked.algorithms.size();
  std::vector<std::vector<collectives::Timing>> timings(rows);
  for (const schedules::ClusterSpec& spec : clusters) {
    const collectives::Timer timer(topology::build_cluster(spec.node, spec.fabric, spec.gpus, spec.allocation),
                                   transport);
    for (std::size_t row = 0; row < rows; ++row) {
      timings[row].push_back(time_one(timer, asked.operation, asked.sizes[row / asked.algorithms.size()], asked.group,
                                      asked.algorithms[row % asked.algorithms.size()], asked.details));
      progress.one_done();
    }
  }
  std::vector<CollectiveResult> out;
  for (std::size_t row = 0; row < rows; ++row) {
    std::ranges::sort(timings[row], {}, &collectives::Timing::duration);
    std::vector<double> seconds;
    for (const collectives::Timing& timing : timings[row]) seconds.push_back(to_seconds(timing.duration));
    const collectives::Timing& middle = timings[row][timings[row].size() / 2];
    const HashingSpread over = spread(seconds);
    out.push_back({.algorithm = middle.algorithm,
                   .protocol = middle.protocol,
                   .size = asked.sizes[row / asked.algorithms.size()],
                   .time = from_seconds(over.median),
                   .over = over});
  }
  return out;
}

/// No row takes less than a process needs to launch the parts of all its GPUs.
void launch_from_one_process(std::uint32_t gpus, const collectives::Transport& transport, CollectiveReport& report) {
  const Time launches = transport.issue * std::int64_t{gpus};
  for (CollectiveResult& row : report.rows)
    if (row.size > Bytes{}) row.time = std::max(row.time, launches);
  report.notes.push_back(fmt::format("{} a process, which launches their parts in {}",
                                     gpus == 1 ? "one GPU" : fmt::format("{} GPUs", gpus), text(launches)));
}

/// What a log says of each row, and what it would say by our prediction: of one repetition of many, and no less than
/// what a process needs to launch the parts of all its GPUs. Out of place an all_gather copies each rank's own part to
/// where it belongs; in place it lies there.
void add_measured(const SizeSweep& asked, std::span<const calibrate::NcclTestsRow> measured,
                  std::uint32_t gpus_per_process, const collectives::Timer& out_of_place,
                  const topology::Cluster& cluster, const collectives::Transport& transport,
                  std::vector<CollectiveResult>& rows) {
  collectives::Transport copies_nothing = transport;
  copies_nothing.own_copy = 0;
  std::optional<collectives::Timer> without_copy;
  if (asked.operation == Operation::all_gather) without_copy.emplace(cluster, copies_nothing);
  const collectives::Timer& in_place = without_copy ? *without_copy : out_of_place;
  const auto time = [&](const collectives::Timer& timer, std::size_t i) {
    return std::max(
        transport.issue * std::int64_t{gpus_per_process},
        time_one(timer, asked.operation, asked.sizes[i], asked.group, asked.algorithms.front(), asked.details)
            .interval);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].time = time(out_of_place, i);
    rows[i].measured = measured[i].out_of_place;
    rows[i].measured_in_place = measured[i].in_place;
    if (measured[i].in_place) rows[i].in_place = time(in_place, i);
  }
}

constexpr const char* kUsage =
    "usage: stepcast collective --cluster NAME|--node NAME [OPTIONS]\n\n"
    "Predicts how long a collective takes, in nccl-tests' columns: sizes as nccl-tests counts them, busbw as its\n"
    "documentation defines it. --algorithm all puts every algorithm side by side, --compare a log of nccl-tests\n"
    "beside the prediction.\n\n"
    "  stepcast collective --node dgx-h100 --op all_reduce --sizes 1MiB,1GiB\n"
    "  stepcast collective --node dgx-h100 --nodes 16 --op all_gather --sizes 64MiB --algorithm all";

CommandLine collective_line() {
  namespace po = boost::program_options;
  const auto text = [](const char* fallback = "") {
    return po::value<std::string>()->default_value(fallback, fallback);
  };
  po::options_description options("Options");
  add_cluster_options(options);
  // clang-format off
  options.add_options()
      ("op", text("all_reduce"), "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_recv, gather, scatter; beside a log by default the one it is of, as far as its program or columns tell")
      ("algorithm", text(""), "a name of docs/collectives.md, auto (the fastest of what the library has), nccl (what NCCL would pick), library (what a step takes: as the stack's transport.as_nccl_picks says, one of these two), names with commas between them, or all; default: auto, beside a log library")
      ("protocol", text(""), "only these, as NCCL_PROTO: Simple, LL128, LL with commas, or ^LL: all but that")
      ("max-channels", text(""), "no more blocks than these, as NCCL_MAX_NCHANNELS")
      ("servers", text(), "parameter servers apart from the workers: the last so many GPUs; default: every worker is one too")
      ("uneven", text(), "a table of what each rank sends each (all_to_all), in any unit: the busiest sends the size")
      ("sizes", text("8B:8GiB"), "FROM:TO, doubling; FROM:TO:x4; FROM:TO:1MiB; or sizes with commas between them")
      ("seeds", text(), "so many hashings of a fabric that hashes, from cluster.fabric.seed on: the median of them, the least and the most")
      ("software", text(), "the stack whose transport is used: a file of configs/software/; default: the one fitted on such machines")
      ("set", po::value<std::vector<std::string>>()->composing()->default_value({}, ""), "KEY=VALUE: transport.nvlink_step=1us, cluster.nic_bandwidth=100Gbit/s")
      ("tuning", "instead: NCCL's own table of latencies and bandwidths, and what it picks at which size")
      ("gpus-per-process", po::value<std::uint32_t>(), "nccl-tests' -g times -t: one process launches so many GPUs' parts one after the other, and no row takes less; default: as a log says, else 1")
      ("compare", text(), "a log of nccl-tests: measured times beside predicted ones per repetition, at the log's sizes")
      ("explain", "also say which link is the busiest at the largest size, and which carry nothing")
      ("plot", text(), "also draw busbw over size into this file: .svg or .png")
      ("steps", text(), "also draw who sends what to whom after what, at the smallest size, into this file: .svg or .png")
      ("format", text("table"), "table, json or csv")
      ("output", text(), "write to this file instead of standard output");
  // clang-format on
  add_report_option(options);
  return {kUsage, options};
}

/// The table is of what NCCL does by itself.
void refuse_forced(const collectives::Transport& transport) {
  const collectives::Forced& forced = transport.forced;
  if (!forced.algorithms.empty() || !forced.without.empty() || !forced.protocols.empty() ||
      forced.most_channels < transport.channels)
    throw InputError("--tuning",
                     "found beside a forced algorithm, protocol or number of channels, expected NCCL's own choice; "
                     "--algorithm nccl times what is forced");
}

/// What --tuning prints, of what the plugin of the nodes' network leaves.
std::string tuning(Operation operation, const topology::Cluster& cluster, const collectives::Group& group,
                   const std::string& nccl_version, std::vector<Bytes> sizes) {
  if (!collectives::nccl::tunes(operation)) {
    throw InputError("--op", "found '" + std::string(collectives::name(operation)) +
                                 "' beside --tuning, expected an operation that NCCL has more than one way for");
  }
  if (group.size() < 2) throw InputError("--tuning", "expected at least 2 GPUs");
  std::ranges::sort(sizes);
  collectives::ChainSearches searches;
  return tuning_table(collectives::nccl::search(cluster, group, searches), nccl_version, operation, sizes,
                      cluster.nic_port().nccl.plugin.protocols);
}

/// The plan of one algorithm at the smallest of the sizes, where pipelines have few pieces, as a picture.
std::string drawn_steps(const SizeSweep& asked, const collectives::Timer& timer, const topology::Cluster& cluster) {
  if (asked.algorithms.size() != 1) throw InputError("--steps", "found beside several algorithms, expected one");
  const Bytes size = std::ranges::min(asked.sizes);
  const std::string& algorithm = asked.algorithms.front();
  const std::string chosen = time_one(timer, asked.operation, size, asked.group, algorithm, asked.details).algorithm;
  const collectives::CollectivePlan plan =
      timer.transfers(asked.operation, size, std::span(&asked.group, 1), 0, algorithm, asked.details).plan;
  if (plan.transfers.empty() || plan.transfers.size() > kMostDrawnTransfers)
    throw InputError("--steps",
                     fmt::format("found a plan of {} transfers, expected 1 to {}: try other --gpus, --nodes, "
                                 "--sizes or another --algorithm",
                                 plan.transfers.size(), kMostDrawnTransfers));
  const std::string title = fmt::format("{} of {} by {}, {}", collectives::name(asked.operation), text(size), chosen,
                                        how_many(asked.group.size(), "GPU"));
  return steps_svg(plan, cluster.gpus_per_node(), title);
}

/// What the command answers.
struct CollectiveAnswer {
  CollectiveReport report;
  std::string steps{};      ///< the picture of --steps
  std::string explained{};  ///< stands behind the table
  std::string tuning{};     ///< what --tuning prints instead of all this
};

/// The answer, and the pictures that were asked for.
void write_answer(const boost::program_options::variables_map& values, const CollectiveAnswer& answer, Format format) {
  const CollectiveReport& report = answer.report;
  std::vector<NewFile> files;
  if (const std::string file = word(values, "steps"); !file.empty())
    files.push_back({file, picture(answer.steps, file)});
  if (const std::string plot = word(values, "plot"); !plot.empty())
    files.push_back({plot, picture(collective_svg(report), plot)});
  if (const std::string page = word(values, "report"); !page.empty()) {
    const std::string title =
        fmt::format("{} on {}", collectives::name(report.operation), how_many(report.ranks, "GPU"));
    const PagePart part{.kind = "collective", .title = title, .document = collective_json(report)};
    files.push_back({page, html_page({&part, 1})});
  }
  files.push_back({word(values, "output"), format == Format::json  ? collective_json(report)
                                           : format == Format::csv ? collective_csv(report)
                                                                   : collective_table(report) + answer.explained});
  write_files(files);
}

/// Throws InputError for options that contradict each other.
void check_options(const boost::program_options::variables_map& values) {
  if (const auto paths = values["path"].as<std::vector<std::string>>(); !paths.empty()) {
    throw InputError("stepcast collective", "found " + in_quotes(paths.front()) + ", expected options only");
  }
  refuse_beside(values, "tuning",
                {"gpus-per-process", "algorithm", "servers", "uneven", "plot", "steps", "explain", "format"});
  refuse_beside(values, "compare", {"sizes"});
  refuse_beside(values, "seeds", {"tuning", "compare", "explain", "steps", "gpus-per-process"});
  refuse_beside(values, "report", {"tuning"});
  if (values.count("explain") != 0 && parse_format(word(values, "format")) != Format::table)
    throw InputError("--explain", "found beside --format " + word(values, "format") + ", expected table");
  for (const char* drawing : {"plot", "steps"})
    if (!word(values, drawing).empty()) check_picture(word(values, drawing), std::string("--") + drawing);
}

CollectiveAnswer answer_of(const boost::program_options::variables_map& values) {
  check_options(values);
  const std::uint32_t seeds = parse_count(word(values, "seeds"), "--seeds", kMostHashings);
  const std::string log = language::input_named(word(values, "compare")),
                    uneven = language::input_named(word(values, "uneven"));
  std::vector<std::filesystem::path> inputs{log, uneven};
  std::erase(inputs, std::filesystem::path());
  const std::string page = report_asked(values);
  const std::array outputs{named_output(word(values, "output")), NamedFile{"--plot", word(values, "plot")},
                           NamedFile{"--steps", word(values, "steps")}, NamedFile{"--report", page}};
  check_outputs(outputs, inputs);
  const Operation asked = language::operation_named(word(values, "op"), "--op");
  language::Library library(language::config_folders());
  Setting setting = read_setting("stepcast collective", values, library);
  check_outputs(outputs, library.files());
  const topology::Cluster cluster = build_as_asked(setting.cluster, values);
  collectives::Group group;
  for (std::uint32_t g = 0; g < cluster.gpus(); ++g) group.push_back(topology::GpuId{g});

  CollectiveAnswer answer{.report = {.operation = asked,
                                     .ranks = cluster.gpus(),
                                     .rows = {},
                                     .log = log,
                                     .software = setting.software.name,
                                     .hashings = seeds,
                                     .notes = setting.notes}};
  CollectiveReport& report = answer.report;
  const std::string wanted = !word(values, "algorithm").empty() ? word(values, "algorithm")
                             : log.empty()                      ? "auto"
                                                                : "library";
  LoggedRun measured;
  std::vector<Bytes> sizes;
  if (report.log.empty()) {
    sizes = sizes_named(word(values, "sizes"));
  } else {
    if (word(values, "algorithm") == "all" || listed_algorithms(word(values, "algorithm")))
      throw InputError("--algorithm",
                       "found " + in_quotes(word(values, "algorithm")) + " beside --compare, expected one");
    measured = read_logged(values, setting.software.transport, report);
    for (const calibrate::NcclTestsRow& row : measured.rows) sizes.push_back(row.size);
  }
  if (report.ranks == 1) report.notes.push_back("one rank has nobody to send to: its collectives take no time");

  const Operation operation = report.operation;
  if (values.count("tuning") != 0) {
    refuse_forced(setting.software.transport);
    answer.tuning = tuning(operation, cluster, group, setting.software.transport.nccl_version, sizes);
    return answer;
  }
  collectives::Details details;
  details.servers = parse_count(word(values, "servers"), "--servers", std::max(report.ranks, 2u) - 1);
  if (!uneven.empty()) details.pair_weights = read_uneven(uneven, operation, report.ranks);
  collectives::Timer timer(cluster, setting.software.transport);
  const std::vector<std::string> names = algorithms_named(wanted, operation, cluster, group, timer, details);
  const SizeSweep sweep{operation, sizes, names, group, details};
  {
    Progress progress(sizes.size() * names.size() * std::max(seeds, 1U));
    report.rows =
        seeds > 0
            ? rows_over_hashings(sweep, hashings(setting.cluster, seeds), setting.software.transport, progress)
            : rows_of(sweep, timer, cluster, progress, values.count("explain") != 0 ? &answer.explained : nullptr);
    if (report.log.empty() && values.count("gpus-per-process") != 0)
      launch_from_one_process(gpus_per_process(values, {}, report), setting.software.transport, report);
    if (!measured.rows.empty())
      add_measured(sweep, measured.rows, measured.gpus_per_process, timer, cluster, setting.software.transport,
                   report.rows);
  }
  if (!word(values, "steps").empty()) answer.steps = drawn_steps(sweep, timer, cluster);
  return answer;
}

int collective(const std::vector<std::string>& words) {
  const auto values = parse_options(words, collective_line());
  if (!values) return kDone;
  const Format format = parse_format(word(*values, "format"));
  const CollectiveAnswer answer = answer_of(*values);
  if (values->count("tuning") != 0)
    write_output(word(*values, "output"), answer.tuning);
  else
    write_answer(*values, answer, format);
  return kDone;
}

}  // namespace

std::string collective_as_json(const std::vector<std::string>& words) {
  return collective_json(answer_of(parse_options(words, collective_line()).value()).report);
}

extern const Command collective_command;
constinit const Command collective_command{"collective",
                                           "time collectives as nccl-tests prints them, all algorithms, against a log",
                                           collective_line, collective};

}  // namespace stepcast::app
