#include "calibrate/measure/suites/nccl_suite.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/nccl_tests_text.h"
#include "calibrate/measure/host/statistics.h"
#include "calibrate/measure/kernels/stream.h"
#include "calibrate/measure/suites/communicators.h"
#include "calibrate/measure/suites/say.h"

extern char** environ;

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

RankBuffers buffers_for(const Communicators& comms, std::int64_t elements) {
  RankBuffers ranks;
  ranks.send.resize(comms.here());
  ranks.receive.resize(comms.here());
  comms.on_every_gpu([&](std::size_t i) {
    ranks.send[i] = Buffer<float>(elements);
    ranks.receive[i] = Buffer<float>(elements);
    fill_steps(ranks.send[i].data(), elements, kRankStep * comms.rank(i), kModulus, comms.stream(i));
    check_cuda(cudaStreamSynchronize(comms.stream(i)), "cudaStreamSynchronize");
  });
  return ranks;
}

/// Runs it once and counts wrong elements at this node's ranks. In place it runs on a copy of the input.
std::int64_t wrong_elements(const CollectiveCase& one, const Counts& counts, const Communicators& comms,
                            const RankBuffers& ranks) {
  std::vector<std::int64_t> wrong(comms.here());
  comms.on_every_gpu([&](std::size_t i) {
    const cudaStream_t stream = comms.stream(i);
    float* const out = ranks.receive[i].data();
    const float* in = ranks.send[i].data();
    if (one.in_place) {
      check_cuda(
          cudaMemcpyAsync(out, in, static_cast<std::size_t>(counts.send * kElement), cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
      in = out;
    }
    call(one.collective, in, out, counts, comms.rank(i), comms.ranks(), comms.comm(i), stream);
    if (one.collective == "reduce" && comms.rank(i) != 0) {
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      return;
    }
    const std::int64_t count = counts.receive, head = std::min(count, kChecked),
                       tail = std::max(head, count - kChecked);
    for (const auto& [first, last] : {std::pair{std::int64_t{0}, head}, std::pair{tail, count}}) {
      const std::vector<float> got = part_of(out, first, last, stream);
      for (std::int64_t e = first; e < last; ++e) {
        if (got[static_cast<std::size_t>(e - first)] != wanted(one.collective, comms.rank(i), comms.ranks(), count, e))
          ++wrong[i];
      }
    }
  });
  std::int64_t all = 0;
  for (const std::int64_t w : wrong) all += w;
  return all;
}

/// Seconds of one call each: all ranks start together, `calls` run back to back, and the slowest rank counts.
std::vector<double> time_calls(const CollectiveCase& one, const Counts& counts, const Communicators& comms,
                               const RankBuffers& ranks, const ProcessGroup& cluster) {
  using Clock = std::chrono::steady_clock;
  const bool small = counts.bytes <= 1 << 20;
  const int calls = small ? 20 : counts.bytes <= 1 << 26 ? 5 : 1, samples = small ? 20 : 10;
  constexpr int kWarmUps = 2;
  std::vector<double> result;
  std::vector<double> seconds(comms.here());
  std::barrier meet(static_cast<std::ptrdiff_t>(comms.here()));
  comms.on_every_gpu([&](std::size_t i) {
    float* const out = ranks.receive[i].data();
    const float* const in = one.in_place ? out : ranks.send[i].data();
    try {
      for (int s = 0; s < kWarmUps + samples; ++s) {
        if (i == 0) cluster.wait_for_all();
        meet.arrive_and_wait();
        const Clock::time_point begin = Clock::now();
        for (int c = 0; c < calls; ++c)
          call(one.collective, in, out, counts, comms.rank(i), comms.ranks(), comms.comm(i), comms.stream(i));
        check_cuda(cudaStreamSynchronize(comms.stream(i)), "cudaStreamSynchronize");
        seconds[i] = std::chrono::duration<double>(Clock::now() - begin).count();
        meet.arrive_and_wait();
        if (i != 0) continue;
        const double slowest = cluster.most(*std::max_element(seconds.begin(), seconds.end())) / calls;
        if (s >= kWarmUps) result.push_back(slowest);
      }
    } catch (...) {
      meet.arrive_and_drop();
      throw;
    }
  });
  return result;
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

}  // namespace

std::int64_t run_nccl_suite(const Options& options, const std::string& run, const ProcessGroup& cluster, int gpus,
                            const std::string& gpu_name) {
  // Process 0 reads and writes the table and tells the others what is done.
  std::optional<BundleTable> table;
  if (cluster.node() == 0) table.emplace(table_in(options.out, run));
  const bool own = options.nccl == NcclSetting{};
  std::int64_t all_wrong = 0;
  const std::vector<GpuGroup> groups =
      options.groups.empty() ? gpu_groups(gpu_numa_nodes(gpus), cluster.nodes(), options.quick) : options.groups;
  const std::vector<CollectiveCase> plan = collective_plan(options.nccl, groups);
  if (plan.empty() && cluster.node() == 0) say("NCCL: one GPU, nothing to measure");
  std::unique_ptr<Communicators> comms;
  std::vector<int> on;
  for (const CollectiveCase& one : plan) {
    const bool whole = static_cast<int>(one.gpus.size()) == gpus;
    const std::int64_t most = std::int64_t{1} << (options.quick ? 28 : own && whole ? 32 : 30);
    const std::vector<std::int64_t> sizes = doubling_sizes(8, most, options.quick || !own || !whole ? 2 : 1);
    const int ranks = static_cast<int>(one.gpus.size()) * cluster.nodes();
    const auto key = [&](std::int64_t bytes) {
      return std::vector<std::string>{one.collective,
                                      options.nccl.algorithm,
                                      options.nccl.protocol,
                                      std::to_string(ranks),
                                      std::to_string(cluster.nodes()),
                                      listed(one.gpus),
                                      std::to_string(bytes),
                                      one.redop == "-" ? "none" : one.redop,
                                      one.in_place ? "1" : "0"};
    };
    std::vector<Counts> missing;
    for (const std::int64_t size : sizes) {
      const Counts counts = counts_of(one.collective, size, kElement, ranks);
      char done = counts.send == 0 || counts.receive == 0 || (table && table->has(key(counts.bytes))) ? 1 : 0;
      cluster.broadcast(&done, 1);
      const bool twice = !missing.empty() && missing.back().bytes == counts.bytes;
      if (done == 0 && !twice) missing.push_back(counts);
    }
    if (missing.empty()) continue;
    if (comms == nullptr || on != one.gpus) {
      comms.reset();
      comms = std::make_unique<Communicators>(one.gpus, cluster);
      on = one.gpus;
    }
    if (cluster.node() == 0) {
      say("NCCL " + options.nccl.algorithm + " " + options.nccl.protocol + ": " + one.collective +
          (one.in_place ? " in place" : "") + " over " + std::to_string(ranks) + " ranks (GPUs " + listed(one.gpus) +
          "), " + std::to_string(missing.size()) + " sizes");
    }
    const Counts& largest = missing.back();
    const RankBuffers buffers = buffers_for(*comms, std::max(largest.send, largest.receive));
    std::vector<NcclTestsLine> rows;
    for (const Counts& counts : missing) {
      const auto wrong =
          static_cast<std::int64_t>(cluster.total(static_cast<double>(wrong_elements(one, counts, *comms, buffers))));
      const SampleSpread spread = spread_of(time_calls(one, counts, *comms, buffers, cluster));
      all_wrong += wrong;
      if (wrong != 0 && cluster.node() == 0) say("WRONG: " + std::to_string(wrong) + " elements of " + one.collective);
      std::vector<std::string> cells = key(counts.bytes);
      cells.push_back(std::to_string(spread.repeats));
      for (const double seconds : {spread.median, spread.p10, spread.p90}) cells.push_back(seconds_cell(seconds));
      cells.push_back(std::to_string(wrong));
      if (table) table->add(cells);
      NcclTestsLine row;
      row.bytes = counts.bytes;
      row.count = one.collective == "reduce_scatter" ? counts.receive : counts.send;
      (one.in_place ? row.in_place : row.out_of_place) = spread.median;
      (one.in_place ? row.wrong_in : row.wrong_out) = wrong;
      rows.push_back(row);
    }
    if (cluster.node() == 0) {
      const std::string name = one.collective + "-" + options.nccl.algorithm + "-" + options.nccl.protocol + "-" +
                               std::to_string(ranks) + group_suffix(one.gpus) + (one.in_place ? "-in-place" : "");
      write_text(options.out / "nccl" / (name + ".log"),
                 nccl_tests_text(one.collective, one.redop == "-" ? "none" : one.redop, one.gpus, cluster.nodes(),
                                 gpu_name, rows));
    }
  }
  return all_wrong;
}

void run_nccl_grid(const Options& options, const std::string& run, int gpus, int compute_capability) {
  constexpr auto kPatience = std::chrono::minutes(30);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (gpus > 1) {
    for (const NcclSetting& setting : nccl_settings(compute_capability >= 90, 1, options.quick)) {
      if (setting == NcclSetting{}) continue;  // measured by this process
      std::vector<std::string> words{
          program,           "--out",         options.out.string(), "--suite",          "nccl",
          "--alone",         "--gpus",        std::to_string(gpus), "--nccl-algorithm", setting.algorithm,
          "--nccl-protocol", setting.protocol};
      if (options.quick) words.emplace_back("--quick");
      if (!options.groups.empty()) words.insert(words.end(), {"--groups", options.group_words});
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      pid_t child = 0;
      if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0)
        throw std::runtime_error("cannot start " + program);
      const auto begin = std::chrono::steady_clock::now();
      int status = 0;
      while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() - begin > kPatience) {
          say("NCCL " + setting.algorithm + " " + setting.protocol + " hangs: ended");
          kill(child, SIGKILL);
          waitpid(child, &status, 0);
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        say("NCCL " + setting.algorithm + " " + setting.protocol + ": not all measured, as it says above");
    }
  }
  finish_nccl_table(options, run);
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
