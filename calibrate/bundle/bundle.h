#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units.h"

namespace stepcast::calibrate {

/// The machine that was measured (machine.csv).
struct MeasuredMachine {
  std::string gpu_name;  ///< as the driver calls it: "NVIDIA H200"
  std::string gpu_id;    ///< first 16 hex digits of the sha256 of its UUID
  std::uint32_t gpus = 1;
  std::uint32_t compute_capability = 0;  ///< times ten
  std::uint32_t sms = 0;
  Bytes memory{}, l2{};
  std::string driver, cuda, cublaslt, nccl;                        ///< versions; "-": not there
  std::string clock_sm_mhz, clock_memory_mhz, power_limit_w, ecc;  ///< as written
  std::string host_cpu, host_cores, date, command;
  bool graph_timer = false;  ///< kernels were timed by replaying a graph of them, else by events around each
};

/// Of the repeats of one measurement.
struct Spread {
  std::int64_t repeats = 1;
  Time median{}, p10{}, p90{};
};

/// One kernel of one shape (kernels.csv).
struct KernelRow {
  std::string place;                      ///< "kernels.csv:12"
  std::string suite;                      ///< gemm, batched_gemm, attention, elementwise, stream, launch
  std::string kernel, by, dtype, layout;  ///< by: whose it is: own, cublaslt, cudnn, flash_attention_2, pytorch ...
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  Bytes bytes{};
  Flops flops{};
  bool cold = false;  ///< nothing of its data in the L2 cache when it starts
  Spread time;
  bool throttled = false;
};

/// One size of copies one way (copies.csv).
struct CopyRow {
  std::string place;
  std::string kind;           ///< h2d, d2h, both (at once), p2p
  std::string memory;         ///< pinned, pageable, device
  std::string from, to;       ///< "host" or a GPU's index
  std::uint32_t at_once = 1;  ///< GPUs of the node that copied to or from the host at the same time
  Bytes bytes{};
  Spread time;
};

/// One of two things that share a GPU, alone and beside the other (interference.csv).
struct InterferenceRow {
  std::string place;
  std::string slowed;  ///< whose times these are: gemm, stream; or all_reduce beside one of them
  std::string beside;  ///< copy_h2d, copy_p2p, all_reduce, none; or gemm, stream
  std::uint32_t gpu = 0;
  Bytes bytes{};
  Time alone{}, together{};
};

/// One size of a collective (collectives.csv).
struct CollectiveRow {
  std::string place;
  std::string collective, algorithm, protocol;
  std::uint32_t ranks = 0, nodes = 1;
  std::vector<std::uint32_t> gpus;  ///< of one node, by index
  Bytes bytes{};                    ///< as nccl-tests counts
  std::string redop;
  bool in_place = false;
  Spread time;
};

/// What the host takes (host.csv), measured through Python: count of what was done at once, and the time of one.
struct HostRow {
  std::string place;
  std::string what;  ///< launch_latency, launch_throughput, operator, collective, checkpoint, pass
  std::string by;    ///< pytorch (eager), inductor (compiled), graph
  std::int64_t count = 1;
  Spread time;
};

/// Work that ran for tens of seconds without a pause, beside its own bursts (sustained.csv).
struct SustainedRow {
  std::string place;
  std::string work;  ///< gemm, stream, layer
  std::string dtype;
  double seconds = 0;
  Time burst{};       ///< one round of it after the GPU had rested
  Spread time;        ///< one round in the last third of the seconds, by windows
  double capped = 0;  ///< share of the samples of that third in which the power limit held the clocks
  bool throttled = false;
};

/// What one run of the measuring program wrote.
struct Bundle {
  std::string run;
  MeasuredMachine machine;
  std::vector<KernelRow> kernels;
  std::vector<CopyRow> copies;
  std::vector<InterferenceRow> interference;
  std::vector<CollectiveRow> collectives;
  std::vector<HostRow> host;
  std::vector<SustainedRow> sustained;
  std::size_t refused = 0;               ///< cases that failed, each with its reason in refused.csv
  std::vector<std::string> step_tables;  ///< names of the runs tables in it, sorted
};

/// A file of a bundle: its name inside ("machine.csv", "steps/gpt.csv"), and all of its bytes.
struct BundleFile {
  std::string name, text;
};

/// Reads a bundle whole or not at all. `shown` is what messages call it. Throws InputError with file:line for what is
/// truncated, of another run, a failed check, wrong results of a collective, a row twice, times that are no spread,
/// and anything else the format (docs/calibrate.md) does not say; a table it does not know; no machine.csv or
/// kernels.csv.
Bundle parse_bundle(std::span<const BundleFile> files, const std::string& shown);

}  // namespace stepcast::calibrate
