#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/measure/host/collective_plan.h"

namespace stepcast::measure {

/// What the command line of stepcast_measure asks for.
struct Options {
  std::filesystem::path out;
  std::set<std::string> suites{"kernels", "sustained", "copies", "interference", "nccl", "steps"};
  bool check = false;  ///< checks of the kernels alone: nothing is timed, nothing written
  bool list = false;   ///< print what would be measured; needs no GPU
  bool help = false;
  bool quick = false;
  bool alone = false;            ///< this process and its node, MPI or not
  bool unwatched = false;        ///< suites run in this process, which nobody starts again where a case ends it
  std::int64_t largest = 0;      ///< bytes of the largest collective; 0: as the plan has it
  double sustained_s = 30;       ///< seconds of each work of the sustained suite
  double time_limit = 0;         ///< seconds for the kernel suite, and for the training steps; 0: none
  int gpus = 0;                  ///< of this node; 0: all
  std::vector<GpuGroup> groups;  ///< of each node, that NCCL is measured on; empty: gpu_groups()
  std::string group_words;       ///< as typed
  NcclSetting nccl;              ///< what NCCL is forced to
  bool nccl_forced = false;      ///< this process measures one setting and leaves the table unfinished
  std::string command;           ///< as typed
};

/// The words with which this program measures one suite with these options and a setting of NCCL in a process of its
/// own: what a supervisor starts.
std::vector<std::string> words_of_suite(const Options& options, const std::string& program, const std::string& suite,
                                        int gpus, const NcclSetting& nccl);

/// A command line that cannot be understood: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws UsageError: the word found, and what is allowed.
Options parse_options(const std::vector<std::string>& words);

const char* usage();

}  // namespace stepcast::measure
