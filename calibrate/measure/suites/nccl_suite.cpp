#include "calibrate/measure/suites/nccl_suite.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/device/near_host.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/nccl_tests_text.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/kernels/stream.h"
#include "calibrate/measure/suites/case_guard.h"
#include "calibrate/measure/suites/communicators.h"
#include "calibrate/measure/suites/say.h"

namespace stepcast::measure {
namespace {

constexpr std::int64_t kElement = sizeof(float);
constexpr std::int64_t kChecked = 1 << 18;  // elements at each end of a buffer that are looked at

/// What rank r holds at i: whole numbers so small that no sum of them is rounded.
constexpr int kRankStep = 5, kModulus = 13;
float input(int rank, std::int64_t i) { return static_cast<float>((i + kRankStep * rank) % kModulus); }

float sum_of_inputs(int ranks, std::int64_t i) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += input(r, i);
  return sum;
}

/// What rank r should then hold at i; `count`: elements that it received.
float wanted(const std::string& collective, int rank, int ranks, std::int64_t count, std::int64_t i) {
  if (collective == "all_reduce" || collective == "reduce") return sum_of_inputs(ranks, i);
  if (collective == "reduce_scatter") return sum_of_inputs(ranks, rank * count + i);
  if (collective == "broadcast") return input(0, i);
  if (collective == "send_recv") return input((rank + ranks - 1) % ranks, i);
  const std::int64_t part = count / ranks;
  const auto from = static_cast<int>(i / part);
  return input(from, collective == "all_gather" ? i % part : rank * part + i % part);
}

/// One call of the collective by one rank.
void call(const std::string& collective, const float* send, float* receive, const Counts& counts, int rank, int ranks,
          ncclComm_t comm, cudaStream_t stream) {
  const auto sent = static_cast<std::size_t>(counts.send), received = static_cast<std::size_t>(counts.receive);
  if (collective == "all_reduce") {
    check_nccl(ncclAllReduce(send, receive, sent, ncclFloat32, ncclSum, comm, stream), "ncclAllReduce");
  } else if (collective == "all_gather") {
    check_nccl(ncclAllGather(send, receive, sent, ncclFloat32, comm, stream), "ncclAllGather");
  } else if (collective == "reduce_scatter") {
    check_nccl(ncclReduceScatter(send, receive, received, ncclFloat32, ncclSum, comm, stream), "ncclReduceScatter");
  } else if (collective == "broadcast") {
    check_nccl(ncclBroadcast(send, receive, sent, ncclFloat32, 0, comm, stream), "ncclBroadcast");
  } else if (collective == "reduce") {
    check_nccl(ncclReduce(send, receive, sent, ncclFloat32, ncclSum, 0, comm, stream), "ncclReduce");
  } else {
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    if (collective == "send_recv") {
      check_nccl(ncclSend(send, sent, ncclFloat32, (rank + 1) % ranks, comm, stream), "ncclSend");
      check_nccl(ncclRecv(receive, sent, ncclFloat32, (rank + ranks - 1) % ranks, comm, stream), "ncclRecv");
    } else {
      const std::size_t part = sent / static_cast<std::size_t>(ranks);
      for (int peer = 0; peer < ranks; ++peer) {
        const std::size_t at = part * static_cast<std::size_t>(peer);
        check_nccl(ncclSend(send + at, part, ncclFloat32, peer, comm, stream), "ncclSend");
        check_nccl(ncclRecv(receive + at, part, ncclFloat32, peer, comm, stream), "ncclRecv");
      }
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }
}

/// Elements [first, last) of a buffer on the GPU.
std::vector<float> part_of(const float* from, std::int64_t first, std::int64_t last, cudaStream_t stream) {
  std::vector<float> host(static_cast<std::size_t>(last - first));
  check_cuda(cudaMemcpyAsync(host.data(), from + first, host.size() * sizeof(float), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return host;
}

struct RankBuffers {
  std::vector<Buffer<float>> send, receive;
};

RankBuffers buffers_for(Communicators& comms, const std::string& what, std::int64_t elements) {
  RankBuffers ranks;
  ranks.send.resize(comms.here());
  ranks.receive.resize(comms.here());
  comms.together(what, [&](std::size_t i, RankTeam& team) {
    team.does(i, "taking " + std::to_string(2 * elements * kElement) + " bytes");
    ranks.send[i] = Buffer<float>(elements);
    ranks.receive[i] = Buffer<float>(elements);
    fill_steps(ranks.send[i].data(), elements, kRankStep * comms.rank(i), kModulus, comms.stream(i));
    comms.wait(i, team);
  });
  return ranks;
}

/// How much longer than others a large size may take: a hundred calls of it over a network of a gigabyte a second.
double seconds_for(const Counts& counts) { return static_cast<double>(counts.bytes) * 1e-7; }

/// Runs it once and counts wrong elements at this node's ranks. In place it runs on a copy of the input.
std::int64_t wrong_elements(const CollectiveCase& one, const Counts& counts, Communicators& comms,
                            const RankBuffers& ranks, const std::string& what) {
  std::vector<std::int64_t> wrong(comms.here());
  comms.together(
      what,
      [&](std::size_t i, RankTeam& team) {
        const cudaStream_t stream = comms.stream(i);
        float* const out = ranks.receive[i].data();
        const float* in = ranks.send[i].data();
        if (one.in_place) {
          check_cuda(cudaMemcpyAsync(out, in, static_cast<std::size_t>(counts.send * kElement),
                                     cudaMemcpyDeviceToDevice, stream),
                     "cudaMemcpyAsync");
          in = out;
        }
        team.does(i, "the first call, of " + std::to_string(counts.bytes) + " bytes");
        call(one.collective, in, out, counts, comms.rank(i), comms.ranks(), comms.comm(i), stream);
        comms.wait(i, team);
        if (one.collective == "reduce" && comms.rank(i) != 0) return;
        const std::int64_t count = counts.receive, head = std::min(count, kChecked),
                           tail = std::max(head, count - kChecked);
        for (const auto& [first, last] : {std::pair{std::int64_t{0}, head}, std::pair{tail, count}}) {
          const std::vector<float> got = part_of(out, first, last, stream);
          for (std::int64_t e = first; e < last; ++e) {
            if (got[static_cast<std::size_t>(e - first)] !=
                wanted(one.collective, comms.rank(i), comms.ranks(), count, e))
              ++wrong[i];
          }
        }
      },
      seconds_for(counts));
  std::int64_t all = 0;
  for (const std::int64_t w : wrong) all += w;
  return all;
}

constexpr int kCalls = 20;  // of a sample, back to back, as nccl-tests' default of --iters

/// Seconds of one call each at the slowest rank of this node: events on its stream around kCalls calls.
std::vector<double> time_calls(const CollectiveCase& one, const Counts& counts, Communicators& comms,
                               const RankBuffers& ranks, const std::string& what) {
  constexpr int kWarmUps = 5;  // nccl-tests' default of --warmup_iters
  const int samples = counts.bytes <= 1 << 20 ? 20 : counts.bytes <= 1 << 26 ? 10 : 3;
  std::vector<double> slowest(static_cast<std::size_t>(samples), 0);
  std::mutex mutex;
  comms.together(
      what,
      [&](std::size_t i, RankTeam& team) {
        float* const out = ranks.receive[i].data();
        const float* const in = one.in_place ? out : ranks.send[i].data();
        const auto calls = [&](int count) {
          for (int c = 0; c < count; ++c)
            call(one.collective, in, out, counts, comms.rank(i), comms.ranks(), comms.comm(i), comms.stream(i));
        };
        team.does(i, "warm-up calls of " + std::to_string(counts.bytes) + " bytes");
        calls(kWarmUps);
        comms.wait(i, team);
        team.does(i, "timed calls of " + std::to_string(counts.bytes) + " bytes");
        for (int s = 0; s < samples; ++s) {
          const CudaEvent begin, end;
          team.meet(i);
          begin.record(comms.stream(i));
          calls(kCalls);
          end.record(comms.stream(i));
          comms.wait(i, team);
          const double seconds = std::max(end.since(begin), 1e-9) / kCalls;
          const std::lock_guard lock(mutex);
          slowest[static_cast<std::size_t>(s)] = std::max(slowest[static_cast<std::size_t>(s)], seconds);
        }
      },
      seconds_for(counts));
  return slowest;
}

BundleTable table_in(const std::filesystem::path& folder, const std::string& run) {
  return {folder / "collectives.csv",
          run,
          {"collective", "algorithm", "protocol", "ranks", "nodes", "gpus", "bytes", "redop", "in_place", "repeats",
           "median_s", "p10_s", "p90_s", "wrong"},
          9};
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

/// What one case of a setting finds in its folder and leaves there.
class NcclCases {
 public:
  NcclCases(const Options& options, const std::string& run, const ProcessGroup& cluster, int gpus, std::string gpu_name)
      : options_(options),
        cluster_(cluster),
        gpus_(gpus),
        gpu_name_(std::move(gpu_name)),
        guard_(options.out, run, "nccl", cluster) {
    if (cluster.node() == 0) table_.emplace(table_in(options.out, run));
  }

  void measure(const CollectiveCase& one) {
    const std::string what = name_of(one);
    const std::vector<Counts> missing = missing_sizes(one);
    if (missing.empty() || guard_.refused(what)) return;
    if (cluster_.node() == 0) say("NCCL: " + what + ", " + std::to_string(missing.size()) + " sizes");
    std::vector<NcclTestsLine> rows;
    guard_.measure(what, [&] { measure_sizes(one, what, missing, rows); });
    if (cluster_.node() == 0 && !rows.empty()) {
      const std::string name = one.collective + "-" + options_.nccl.algorithm + "-" + options_.nccl.protocol + "-" +
                               std::to_string(ranks_of(one)) + group_suffix(one.gpus) +
                               (one.in_place ? "-in-place" : "");
      write_text(options_.out / "nccl" / (name + ".log"),
                 nccl_tests_text(one.collective, one.redop == "-" ? "none" : one.redop, one.gpus, cluster_.nodes(),
                                 gpu_name_, rows));
    }
  }
  void finish() { guard_.finish(); }
  std::int64_t wrong() const { return wrong_; }

 private:
  int ranks_of(const CollectiveCase& one) const { return static_cast<int>(one.gpus.size()) * cluster_.nodes(); }

  std::string name_of(const CollectiveCase& one) const {
    return one.collective + (one.in_place ? " in place" : "") + " " + options_.nccl.algorithm + " " +
           options_.nccl.protocol + " over " + std::to_string(ranks_of(one)) + " ranks (GPUs " + listed(one.gpus) + ")";
  }

  std::vector<std::string> key(const CollectiveCase& one, std::int64_t bytes) const {
    return {one.collective,
            options_.nccl.algorithm,
            options_.nccl.protocol,
            std::to_string(ranks_of(one)),
            std::to_string(cluster_.nodes()),
            listed(one.gpus),
            std::to_string(bytes),
            one.redop == "-" ? "none" : one.redop,
            one.in_place ? "1" : "0"};
  }

  /// Sizes that the table has not; process 0 tells the others.
  std::vector<Counts> missing_sizes(const CollectiveCase& one) const {
    const bool whole = static_cast<int>(one.gpus.size()) == gpus_, own = options_.nccl == NcclSetting{};
    const std::int64_t usual = std::int64_t{1} << (options_.quick ? 28 : own && whole ? 32 : 30);
    const std::int64_t most = options_.largest > 0 ? std::min(options_.largest, usual) : usual;
    std::vector<Counts> missing;
    for (const std::int64_t size : doubling_sizes(8, most, options_.quick || !own || !whole ? 2 : 1)) {
      const Counts counts = counts_of(one.collective, size, kElement, ranks_of(one));
      char done = counts.send == 0 || counts.receive == 0 || (table_ && table_->has(key(one, counts.bytes))) ? 1 : 0;
      cluster_.broadcast(&done, 1);
      const bool twice = !missing.empty() && missing.back().bytes == counts.bytes;
      if (done == 0 && !twice) missing.push_back(counts);
    }
    return missing;
  }

  void measure_sizes(const CollectiveCase& one, const std::string& what, const std::vector<Counts>& missing,
                     std::vector<NcclTestsLine>& rows) {
    if (comms_ == nullptr || comms_->broken() || on_ != one.gpus) {
      comms_.reset();
      comms_ = std::make_unique<Communicators>(one.gpus, cluster_);
      on_ = one.gpus;
    }
    const Counts& largest = missing.back();
    const RankBuffers buffers = buffers_for(*comms_, what, std::max(largest.send, largest.receive));
    for (const Counts& counts : missing) {
      // Every process comes to the end of this, or none of the rest: what one of them found wrong, all throw.
      std::string problem;
      guard_.moved(seconds_for(counts));
      std::int64_t wrong = 0;
      std::vector<double> samples;
      try {
        wrong = wrong_elements(one, counts, *comms_, buffers, what);
        samples = time_calls(one, counts, *comms_, buffers, what);
      } catch (const std::runtime_error& error) {
        problem = error.what();
      }
      problem = cluster_.first_of(problem);
      if (!problem.empty()) throw CaseFailed(problem);
      for (double& sample : samples) sample = cluster_.most(sample);
      rows.push_back(
          add(one, counts, spread_of(samples), static_cast<std::int64_t>(cluster_.total(static_cast<double>(wrong)))));
    }
  }

  NcclTestsLine add(const CollectiveCase& one, const Counts& counts, const SampleSpread& spread, std::int64_t wrong) {
    wrong_ += wrong;
    if (wrong != 0 && cluster_.node() == 0) say("WRONG: " + std::to_string(wrong) + " elements of " + one.collective);
    std::vector<std::string> cells = key(one, counts.bytes);
    cells.push_back(std::to_string(spread.repeats));
    for (const double seconds : {spread.median, spread.p10, spread.p90}) cells.push_back(seconds_cell(seconds));
    cells.push_back(std::to_string(wrong));
    if (table_) table_->add(cells);
    NcclTestsLine row;
    row.bytes = counts.bytes;
    row.count = one.collective == "reduce_scatter" ? counts.receive : counts.send;
    (one.in_place ? row.in_place : row.out_of_place) = spread.median;
    (one.in_place ? row.wrong_in : row.wrong_out) = wrong;
    return row;
  }

  const Options& options_;
  const ProcessGroup& cluster_;
  int gpus_;
  std::string gpu_name_;
  CaseGuard guard_;
  std::optional<BundleTable> table_;  ///< of process 0
  std::unique_ptr<Communicators> comms_;
  std::vector<int> on_;  ///< which GPUs comms_ is over
  std::int64_t wrong_ = 0;
};

}  // namespace

std::int64_t run_nccl_suite(const Options& options, const std::string& run, const ProcessGroup& cluster, int gpus,
                            const std::string& gpu_name) {
  const std::vector<GpuGroup> groups =
      options.groups.empty() ? gpu_groups(gpu_numa_nodes(gpus), cluster.nodes(), options.quick) : options.groups;
  const std::vector<CollectiveCase> plan = collective_plan(options.nccl, groups);
  if (plan.empty() && cluster.node() == 0) say("NCCL: one GPU, nothing to measure");
  NcclCases cases(options, run, cluster, gpus, gpu_name);
  for (const CollectiveCase& one : plan) cases.measure(one);
  cases.finish();
  return cases.wrong();
}

void finish_nccl_table(const Options& options, const std::string& run) {
  BundleTable table = table_in(options.out, run);
  if (table.rows() > 0) {
    table.finish();
  } else {
    std::filesystem::remove((options.out / "collectives.csv.part"));
  }
}

}  // namespace stepcast::measure
