#include "calibrate/bundle/bundle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "calibrate/bundle/measured_table.h"
#include "calibrate/bundle/row_reader.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40, kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostRepeats = 1'000'000'000, kMostRanks = 1'000'000;

constexpr std::array<std::string_view, 2> kMachineColumns{"key", "value"};
constexpr std::array<std::string_view, 22> kKernelColumns{
    "suite",     "kernel",  "by",     "dtype",     "layout",  "batch",    "m",     "n",
    "k",         "bytes",   "flops",  "l2",        "repeats", "median_s", "p10_s", "p90_s",
    "clock_mhz", "power_w", "temp_c", "throttled", "check",   "max_error"};
constexpr std::array<std::string_view, 10> kCopyColumns{"kind",  "memory",  "from",     "to",    "at_once",
                                                        "bytes", "repeats", "median_s", "p10_s", "p90_s"};
constexpr std::array<std::string_view, 7> kInterferenceColumns{"slowed",  "beside",     "gpu",    "bytes",
                                                               "alone_s", "together_s", "repeats"};
constexpr std::array<std::string_view, 7> kHostColumns{"what", "by", "count", "repeats", "median_s", "p10_s", "p90_s"};
constexpr std::array<std::string_view, 13> kSustainedColumns{"work",     "dtype",  "seconds",  "burst_s",   "windows",
                                                             "median_s", "p10_s",  "p90_s",    "clock_mhz", "power_w",
                                                             "temp_c",   "capped", "throttled"};
constexpr std::array<std::string_view, 7> kClockColumns{"work",    "dtype",  "at_s",   "clock_mhz",
                                                        "power_w", "temp_c", "reasons"};
constexpr std::array<std::string_view, 3> kRefusedColumns{"suite", "case", "why"};
constexpr std::array<std::string_view, 14> kCollectiveColumns{
    "collective", "algorithm", "protocol", "ranks",    "nodes", "gpus",  "bytes",
    "redop",      "in_place",  "repeats",  "median_s", "p10_s", "p90_s", "wrong"};

Spread read_spread(RowReader& row) {
  Spread spread{.repeats = row.whole(1, kMostRepeats), .median = row.time(), .p10 = {}, .p90 = {}};
  spread.p10 = row.time();
  if (spread.p10 > spread.median) row.fail("no more than median_s");
  spread.p90 = row.time();
  if (spread.p90 < spread.median) row.fail("no less than median_s");
  return spread;
}

std::int64_t needed(const std::string& place, std::string_view column, std::int64_t value) {
  if (value <= 0) throw InputError(place, std::string(column) + ": found none, expected a whole number above 0");
  return value;
}

KernelRow read_kernel(const MeasuredRow& from) {
  RowReader row(from, kKernelColumns);
  KernelRow kernel;
  kernel.place = from.place;
  kernel.suite = row.choice({"gemm", "batched_gemm", "attention", "elementwise", "stream", "launch"});
  kernel.kernel = row.word();
  kernel.by = row.word();
  kernel.dtype = row.word();
  kernel.layout = row.word();
  kernel.batch = row.whole_or_none(kMostElements);
  kernel.m = row.whole_or_none(kMostElements);
  kernel.n = row.whole_or_none(kMostElements);
  kernel.k = row.whole_or_none(kMostElements);
  kernel.bytes = {row.whole_or_none(kMostBytes)};
  if (const std::optional<double> flops = row.number()) {
    if (*flops < 0) row.fail("no less than 0");
    kernel.flops = {*flops};
  }
  const std::string l2 = row.choice({"cold", "warm", "-", ""});
  kernel.cold = l2 == "cold";
  kernel.time = read_spread(row);
  for (int i = 0; i < 3; ++i) row.number();  // clock, power, temperature: for people
  kernel.throttled = row.flag();
  if (row.choice({"passed", "failed", "-"}) == "failed") row.fail("a bundle without failed checks");
  row.number();

  const bool shaped = kernel.suite == "gemm" || kernel.suite == "batched_gemm" || kernel.suite == "attention";
  if (shaped) {
    for (const auto& [column, value] : {std::pair{"batch", kernel.batch}, std::pair{"m", kernel.m},
                                        std::pair{"n", kernel.n}, std::pair{"k", kernel.k}}) {
      needed(from.place, column, value);
    }
  }
  if (kernel.suite == "elementwise" || kernel.suite == "stream") needed(from.place, "bytes", kernel.bytes.value);
  return kernel;
}

std::string read_end(RowReader& row, std::uint32_t gpus) {
  const std::string end = row.word();
  if (end == "host") return end;
  std::uint32_t gpu = 0;
  const auto [stop, error] = std::from_chars(end.data(), end.data() + end.size(), gpu);
  if (error != std::errc{} || stop != end.data() + end.size() || gpu >= gpus)
    row.fail("host or one of the machine's " + std::to_string(gpus) + " GPUs, from 0");
  return std::to_string(gpu);
}

CopyRow read_copy(const MeasuredRow& from, std::uint32_t gpus) {
  RowReader row(from, kCopyColumns);
  CopyRow copy;
  copy.place = from.place;
  copy.kind = row.choice({"h2d", "d2h", "both", "p2p"});
  copy.memory = row.choice({"pinned", "pageable", "device"});
  if ((copy.kind == "p2p") != (copy.memory == "device")) row.fail("device for p2p, pinned or pageable for the others");
  copy.from = read_end(row, gpus);
  copy.to = read_end(row, gpus);
  if (copy.from == copy.to) row.fail("another end than from");
  copy.at_once = static_cast<std::uint32_t>(row.whole(1, gpus));
  copy.bytes = {row.whole(1, kMostBytes)};
  copy.time = read_spread(row);
  return copy;
}

InterferenceRow read_interference(const MeasuredRow& from, std::uint32_t gpus) {
  RowReader row(from, kInterferenceColumns);
  InterferenceRow pair;
  pair.place = from.place;
  pair.slowed = row.choice({"gemm", "stream", "all_reduce"});
  if (pair.slowed == "all_reduce") {
    pair.beside = row.choice({"gemm", "stream"});
  } else {
    pair.beside = row.choice({"copy_h2d", "copy_p2p", "all_reduce", "none"});
  }
  pair.gpu = static_cast<std::uint32_t>(row.whole(0, gpus - 1));
  pair.bytes = {row.whole_or_none(kMostBytes)};
  pair.alone = row.time();
  pair.together = row.time();
  row.whole(1, kMostRepeats);
  return pair;
}

HostRow read_host(const MeasuredRow& from) {
  RowReader row(from, kHostColumns);
  HostRow host;
  host.place = from.place;
  host.what = row.choice({"launch_latency", "launch_throughput", "operator", "collective", "checkpoint", "pass"});
  host.by = row.choice({"pytorch", "inductor", "graph"});
  host.count = row.whole(1, kMostRepeats);
  host.time = read_spread(row);
  return host;
}

SustainedRow read_sustained(const MeasuredRow& from) {
  RowReader row(from, kSustainedColumns);
  SustainedRow one;
  one.place = from.place;
  one.work = row.choice({"gemm", "stream", "layer"});
  one.dtype = row.word();
  one.seconds = to_seconds(row.time());
  one.burst = row.time();
  one.time = read_spread(row);
  for (int i = 0; i < 3; ++i) row.number();  // clock, power, temperature: for people
  const std::optional<double> capped = row.number();
  if (capped && (*capped < 0 || *capped > 1)) row.fail("a share from 0 to 1");
  one.capped = capped.value_or(0);
  one.throttled = row.flag();
  return one;
}

std::vector<std::uint32_t> read_gpus(RowReader& row, std::uint32_t gpus) {
  std::vector<std::uint32_t> list;
  const std::string words = row.text();
  const char* at = words.data();
  const char* const end = at + words.size();
  for (;;) {
    std::uint32_t gpu = 0;
    const auto [stop, error] = std::from_chars(at, end, gpu);
    if (error != std::errc{} || gpu >= gpus || std::ranges::find(list, gpu) != list.end())
      row.fail("different GPUs of the machine's " + std::to_string(gpus) + ", from 0, a blank between them");
    list.push_back(gpu);
    if (stop == end) return list;
    if (*stop != ' ') row.fail("GPUs with a blank between them");
    at = stop + 1;
  }
}

CollectiveRow read_collective(const MeasuredRow& from, std::uint32_t gpus) {
  RowReader row(from, kCollectiveColumns);
  CollectiveRow run;
  run.place = from.place;
  run.collective = row.choice({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
                               "send_recv", "gather", "scatter"});
  run.algorithm = row.word();
  run.protocol = row.choice({"auto", "LL", "LL128", "Simple"});
  run.ranks = static_cast<std::uint32_t>(row.whole(2, kMostRanks));
  run.nodes = static_cast<std::uint32_t>(row.whole(1, kMostRanks));
  run.gpus = read_gpus(row, gpus);
  if (run.gpus.size() * run.nodes != run.ranks)
    row.fail("ranks / nodes = " + std::to_string(run.ranks) + " / " + std::to_string(run.nodes) + " of them");
  run.bytes = {row.whole(1, kMostBytes)};
  run.redop = row.word();
  run.in_place = row.flag();
  run.time = read_spread(row);
  if (row.whole_or_none(kMostBytes) > 0) row.fail("0: a bundle without wrong results");
  return run;
}

MeasuredMachine read_machine(const MeasuredTable& table, const std::string& file) {
  constexpr std::array<std::string_view, 19> kKeys{"gpu_name",
                                                   "gpu_id",
                                                   "gpus",
                                                   "compute_capability",
                                                   "sms",
                                                   "memory_bytes",
                                                   "l2_bytes",
                                                   "driver",
                                                   "cuda",
                                                   "cublaslt",
                                                   "nccl",
                                                   "clock_sm_mhz_max",
                                                   "clock_mem_mhz_max",
                                                   "power_limit_w",
                                                   "ecc",
                                                   "host_cpu",
                                                   "host_cores",
                                                   "date",
                                                   "command"};
  std::map<std::string, const MeasuredRow*> rows;
  for (const MeasuredRow& row : table.rows) {
    const std::string& key = row.cells[0];
    if (key != "timer" && std::ranges::find(kKeys, key) == kKeys.end())
      throw InputError(row.place, "found the unknown key " + in_quotes(key));
    if (!rows.emplace(key, &row).second) throw InputError(row.place, "found the key '" + key + "' a second time");
  }
  const auto reader = [&](const std::string& key) {
    const auto at = rows.find(key);
    if (at == rows.end()) throw InputError(file, "no row '" + key + "'");
    RowReader row(*at->second, kMachineColumns);
    row.word();
    return row;
  };
  const auto text = [&](const char* key) { return reader(key).text(); };
  const auto whole = [&](const char* key, std::int64_t least, std::int64_t most) {
    return reader(key).whole(least, most);
  };
  MeasuredMachine machine;
  machine.gpu_name = text("gpu_name");
  machine.gpu_id = text("gpu_id");
  machine.gpus = static_cast<std::uint32_t>(whole("gpus", 1, 1024));
  RowReader capability = reader("compute_capability");  // "9.0" or "90"
  const double version = capability.number().value_or(0);
  machine.compute_capability = static_cast<std::uint32_t>(version < 10 ? version * 10 + 0.5 : version);
  if (machine.compute_capability < 10 || version > 999) capability.fail("one such as 9.0");
  machine.sms = static_cast<std::uint32_t>(whole("sms", 1, 4096));
  machine.memory = {whole("memory_bytes", 1, kMostBytes)};
  machine.l2 = {whole("l2_bytes", 0, kMostBytes)};
  machine.driver = text("driver");
  machine.cuda = text("cuda");
  machine.cublaslt = text("cublaslt");
  machine.nccl = text("nccl");
  machine.clock_sm_mhz = text("clock_sm_mhz_max");
  machine.clock_memory_mhz = text("clock_mem_mhz_max");
  machine.power_limit_w = text("power_limit_w");
  machine.ecc = text("ecc");
  machine.host_cpu = text("host_cpu");
  machine.host_cores = text("host_cores");
  machine.date = text("date");
  machine.command = text("command");
  machine.graph_timer = reader("timer").choice({"events", "graph"}) == "graph";
  return machine;
}

/// Complains of a row whose key another has.
template <class Rows, class Key>
void refuse_twice(const Rows& rows, Key key) {
  std::map<decltype(key(rows.front())), std::string> seen;
  for (const auto& row : rows) {
    const auto [at, fresh] = seen.emplace(key(row), row.place);
    if (!fresh) throw InputError(row.place, "found what " + at->second + " measured a second time");
  }
}

}  // namespace

Bundle parse_bundle(std::span<const BundleFile> files, const std::string& shown) {
  const auto find = [&](std::string_view name) {
    return std::ranges::find_if(files, [&](const BundleFile& file) { return file.name == name; });
  };
  std::string run, run_from;
  const auto table = [&](const BundleFile& file, std::span<const std::string_view> columns, bool rest_in_last = false) {
    const std::string place = shown + "/" + file.name;
    MeasuredTable read = parse_measured_table(file.text, place, columns, rest_in_last);
    if (run_from.empty()) {
      run = read.run;
      run_from = file.name;
    } else if (read.run != run) {
      throw InputError(place + ":2", "found run " + read.run + ", expected " + run + " as in " + run_from +
                                         ": files of two runs are mixed");
    }
    return read;
  };
  for (const char* name : {"machine.csv", "kernels.csv"}) {
    if (find(name) == files.end()) throw InputError(shown, "found no " + std::string(name) + ", expected a bundle");
  }
  Bundle bundle;
  bundle.machine = read_machine(table(*find("machine.csv"), kMachineColumns, true), shown + "/machine.csv");
  bundle.run = run;
  const std::uint32_t gpus = bundle.machine.gpus;
  for (const BundleFile& file : files) {
    if (file.name == "kernels.csv" || file.name == "pytorch_kernels.csv") {
      for (const MeasuredRow& row : table(file, kKernelColumns).rows) bundle.kernels.push_back(read_kernel(row));
    } else if (file.name == "copies.csv") {
      for (const MeasuredRow& row : table(file, kCopyColumns).rows) bundle.copies.push_back(read_copy(row, gpus));
    } else if (file.name == "interference.csv") {
      for (const MeasuredRow& row : table(file, kInterferenceColumns).rows)
        bundle.interference.push_back(read_interference(row, gpus));
    } else if (file.name == "collectives.csv") {
      for (const MeasuredRow& row : table(file, kCollectiveColumns).rows)
        bundle.collectives.push_back(read_collective(row, gpus));
    } else if (file.name == "host.csv") {
      for (const MeasuredRow& row : table(file, kHostColumns).rows) bundle.host.push_back(read_host(row));
    } else if (file.name == "sustained.csv") {
      for (const MeasuredRow& row : table(file, kSustainedColumns).rows)
        bundle.sustained.push_back(read_sustained(row));
    } else if (file.name == "clocks.csv") {
      table(file, kClockColumns);  // for people: what sustained.csv sums up
    } else if (file.name == "refused.csv") {
      bundle.refused = table(file, kRefusedColumns).rows.size();
    } else if (file.name.starts_with("steps/") && file.name.ends_with(".csv")) {
      bundle.step_tables.push_back(file.name);
    } else if (file.name.ends_with(".csv") && file.name != "machine.csv") {
      throw InputError(shown + "/" + file.name,
                       "found an unknown table, expected machine.csv, kernels.csv, pytorch_kernels.csv, copies.csv, "
                       "interference.csv, collectives.csv, host.csv, sustained.csv, clocks.csv, refused.csv or "
                       "steps/*.csv");
    }
  }
  std::ranges::sort(bundle.step_tables);
  refuse_twice(bundle.host, [](const HostRow& r) { return std::tuple(r.what, r.by, r.count); });
  refuse_twice(bundle.sustained, [](const SustainedRow& r) { return std::tuple(r.work, r.dtype); });
  refuse_twice(bundle.kernels, [](const KernelRow& r) {
    return std::tuple(r.suite, r.kernel, r.by, r.dtype, r.layout, r.batch, r.m, r.n, r.k, r.bytes.value, r.cold);
  });
  refuse_twice(bundle.copies,
               [](const CopyRow& r) { return std::tuple(r.kind, r.memory, r.from, r.to, r.at_once, r.bytes.value); });
  refuse_twice(bundle.interference,
               [](const InterferenceRow& r) { return std::tuple(r.slowed, r.beside, r.gpu, r.bytes.value); });
  refuse_twice(bundle.collectives, [](const CollectiveRow& r) {
    return std::tuple(r.collective, r.algorithm, r.protocol, r.nodes, r.gpus, r.bytes.value, r.redop, r.in_place);
  });
  return bundle;
}

}  // namespace stepcast::calibrate
