// stepcast_measure: measures this machine and writes what stepcast fits its constants to (docs/calibrate.md).

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>

#include "calibrate/measure/device/machine.h"
#include "calibrate/measure/host/bundle_table.h"
#include "calibrate/measure/host/kernel_plan.h"
#include "calibrate/measure/host/options.h"
#include "calibrate/measure/host/sha256.h"
#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/host/supervise.h"
#include "calibrate/measure/suites/copy_suite.h"
#include "calibrate/measure/suites/interference_suite.h"
#include "calibrate/measure/suites/kernel_suite.h"
#include "calibrate/measure/suites/nccl_suite.h"
#include "calibrate/measure/suites/say.h"
#include "calibrate/measure/suites/step_suite.h"
#include "calibrate/measure/suites/sustained_suite.h"

namespace stepcast::measure {
namespace {

enum Exit { kDone = 0, kFailed = 1, kUsage = 2, kCheckFailed = 3, kNoGpu = 4 };

void list(const Options& options) {
  constexpr std::int64_t kMemory = std::int64_t{140} << 30;
  for (const KernelCase& one : kernel_plan({kMemory, 90, options.quick})) {
    std::string line;
    for (const std::string& cell : key_of(one)) line += (line.empty() ? "" : ",") + cell;
    std::puts(line.c_str());
  }
  const int gpus = options.gpus == 0 ? 8 : options.gpus;
  const std::vector<int> numa(static_cast<std::size_t>(gpus), -1);
  const std::vector<GpuGroup> groups = options.groups.empty() ? gpu_groups(numa, 1, options.quick) : options.groups;
  for (const NcclSetting& setting : nccl_settings(true, 1, options.quick)) {
    for (const CollectiveCase& one : collective_plan(setting, groups)) {
      std::printf("nccl,%s,%s,%s,GPUs %s%s\n", one.collective.c_str(), setting.algorithm.c_str(),
                  setting.protocol.c_str(), listed(one.gpus).c_str(), one.in_place ? ",in place" : "");
    }
  }
  for (const int on : std::set<int>{1, gpus}) {
    for (const StepCase& one : step_plan(on, kMemory, options.quick)) std::printf("steps,%s\n", step_name(one).c_str());
  }
}

/// The run that the folder holds; a new one where it is empty. Throws where it is of another machine.
std::string run_in(const Options& options, const Nvml& nvml, int gpus) {
  const std::filesystem::path file = options.out / "machine.csv";
  std::string run = run_of(file);
  const bool fresh = run.empty();
  if (fresh) {
    const std::string drawn = gpu_id(nvml) + std::to_string(std::time(nullptr)) + std::to_string(getpid());
    run = "run-" + sha256(drawn).substr(0, 12);
  }
  BundleTable machine(file, run, {"key", "value"}, 1);
  for (const auto& [key, value] : machine_rows(nvml, gpus, options.command)) {
    if (fresh || !machine.has({key})) machine.add({key, value});
  }
  machine.finish();
  return run;
}

/// The suites that are wanted, in this process.
int run_suites(const Options& options, const std::string& run, const ProcessGroup& cluster, const Nvml& nvml,
               int gpus) {
  const auto wants = [&](const char* suite) { return options.suites.count(suite) != 0; };
  const bool first = cluster.node() == 0;
  int failed = 0;
  std::int64_t wrong = 0;
  const bool alone = cluster.nodes() == 1;
  if (first && !alone && (wants("kernels") || wants("sustained") || wants("copies") || wants("interference")))
    say("kernels, sustained, copies and interference are measured on one node: run them there without mpirun");
  if (alone && wants("kernels"))
    failed = run_kernel_suite(options.out, run, cluster, nvml, options.quick, options.time_limit);
  if (alone && wants("sustained")) run_sustained_suite(options.out, run, cluster, nvml, options.sustained_s);
  if (alone && wants("copies")) run_copy_suite(options.out, run, cluster, gpus, options.quick);
  if (alone && wants("interference")) run_interference_suite(options.out, run, cluster, gpus);
  if (wants("nccl")) {
    wrong = run_nccl_suite(options, run, cluster, gpus, gpu_name());
    if (first && !options.nccl_forced) finish_nccl_table(options, run);
  }
  if (wants("steps")) failed += run_step_suite(options.out, run, cluster, gpus, options.quick, options.time_limit);
  return failed > 0 || wrong > 0 ? kCheckFailed : kDone;
}

/// On one node: each suite, and each setting of NCCL, in a process of its own (this program again), which is started
/// again where a case ends it.
int supervise_suites(const Options& options, const std::string& run, int gpus) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  Supervision how;
  how.folder = options.out;
  how.run = run;
  how.say = say;
  int result = kDone;
  const auto supervised = [&](const std::string& suite, const NcclSetting& nccl) {
    // Of collectives all sizes are one case; the process itself looks after each of them.
    how.patience_s = kChildPatience + (suite == "sustained" ? options.sustained_s : suite == "nccl" ? 3600 : 0);
    const int status = supervise(words_of_suite(options, program, suite, gpus, nccl), how);
    if (status == kDone) return;
    say(suite + (suite == "nccl" ? " " + nccl.algorithm + " " + nccl.protocol : "") +
        ": not all measured, as it says above");
    if (result != kFailed) result = status == kCheckFailed ? kCheckFailed : kFailed;
  };
  for (const char* const suite : {"kernels", "sustained", "copies", "interference", "steps"})
    if (options.suites.count(suite) != 0) supervised(suite, {});
  if (options.suites.count("nccl") == 0) return result;
  const std::vector<NcclSetting> settings = options.nccl_forced
                                                ? std::vector<NcclSetting>{options.nccl}
                                                : nccl_settings(compute_capability() >= 90, 1, options.quick);
  for (const NcclSetting& setting : settings)
    if (gpus > 1) supervised("nccl", setting);
  if (!options.nccl_forced) finish_nccl_table(options, run);
  return result;
}

int measure(const Options& options, const ProcessGroup& cluster) {
  const int present = gpus_present();
  if (present == 0) {
    std::fputs("stepcast_measure: no GPU here: CUDA found none (is the driver loaded?)\n", stderr);
    return kNoGpu;
  }
  if (options.gpus > present)
    throw UsageError("--gpus: found " + std::to_string(options.gpus) + ", the node has " + std::to_string(present));
  if (options.check) {
    const int failed = run_checks();
    say(failed == 0 ? "all checks passed" : std::to_string(failed) + " checks failed");
    return failed == 0 ? kDone : kCheckFailed;
  }
  const int gpus = options.gpus == 0 ? present : options.gpus;
  for (const GpuGroup& group : options.groups) {
    if (group.back() >= gpus)
      throw UsageError("--groups: found GPU " + std::to_string(group.back()) + ", expected 0 to " +
                       std::to_string(gpus - 1));
    if (static_cast<int>(group.size()) * cluster.nodes() < 2)
      throw UsageError("--groups: found GPU " + listed(group) + " alone, expected two or more");
  }
  if (const int cores = cores_allowed(); cores < 2 * gpus) {
    say("only " + std::to_string(cores) + " cores for " + std::to_string(gpus) +
        " GPUs: collectives and steps wait for the host (mpirun --bind-to none, srun --cpu-bind=none)");
  }
  const bool first = cluster.node() == 0;
  const Nvml nvml;
  char run[32] = {};
  if (first) {
    std::filesystem::create_directories(options.out);
    run_in(options, nvml, gpus).copy(run, sizeof(run) - 1);
  }
  cluster.broadcast(run, sizeof(run));

  if (cluster.nodes() == 1 && !options.unwatched) return supervise_suites(options, run, gpus);
  return run_suites(options, run, cluster, nvml, gpus);
}

int run(const std::vector<std::string>& words) {
  try {
    const Options options = parse_options(words);
    if (options.help) {
      std::fputs(usage(), stdout);
      return kDone;
    }
    if (options.list) {
      list(options);
      return kDone;
    }
    // NCCL reads these when it makes its first communicator.
    if (!nccl_algo(options.nccl).empty()) setenv("NCCL_ALGO", nccl_algo(options.nccl).c_str(), 1);
    if (!nccl_proto(options.nccl).empty()) setenv("NCCL_PROTO", nccl_proto(options.nccl).c_str(), 1);
    const ProcessGroup cluster(options.alone);
    try {
      return measure(options, cluster);
    } catch (const std::exception& error) {
      if (cluster.nodes() > 1) say(error.what());
      cluster.abandon(kFailed);
      throw;
    }
  } catch (const UsageError& error) {
    std::fprintf(stderr, "stepcast_measure: %s\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepcast_measure: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace stepcast::measure

int main(int count, char** words) { return stepcast::measure::run({words + 1, words + count}); }
