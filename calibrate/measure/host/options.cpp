#include "calibrate/measure/host/options.h"

#include <charconv>

namespace stepcast::measure {
namespace {

double number(const std::string& option, const std::string& word, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= least && value <= most)) {
    throw UsageError(option + ": found '" + word + "', expected a number from " + std::to_string(least) + " to " +
                     std::to_string(most));
  }
  return value;
}

std::set<std::string> suites_of(const std::string& list, const std::set<std::string>& known) {
  std::set<std::string> suites;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    if (known.count(name) == 0) {
      throw UsageError("--suite: found '" + name +
                       "', expected kernels, sustained, copies, interference, nccl, steps, with commas");
    }
    suites.insert(name);
    at = end + 1;
  }
  return suites;
}

/// "0,4/0,1,4,5": groups of GPUs with commas, slashes between them.
std::vector<GpuGroup> groups_of(const std::string& option, const std::string& word) {
  std::vector<GpuGroup> groups(1);
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find_first_of(",/", at), word.size());
    int gpu = -1;
    const auto [rest, error] = std::from_chars(word.data() + at, word.data() + end, gpu);
    if (error != std::errc{} || rest != word.data() + end || gpu < 0 || gpu > 63 ||
        (!groups.back().empty() && gpu <= groups.back().back())) {
      throw UsageError(option + ": found '" + word +
                       "', expected groups such as 0,4/0,1,4,5: GPUs from 0 to 63, ascending");
    }
    groups.back().push_back(gpu);
    if (end < word.size() && word[end] == '/') groups.emplace_back();
    at = end + 1;
  }
  return groups;
}

std::string one_of(const std::string& option, const std::string& word, const std::vector<std::string>& allowed) {
  std::string names;
  for (const std::string& name : allowed) {
    if (name == word) return word;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw UsageError(option + ": found '" + word + "', expected one of " + names);
}

}  // namespace

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  const std::set<std::string> known = options.suites;
  options.command = "stepcast_measure";
  for (const std::string& word : words) options.command += " " + word;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (++i == words.size()) throw UsageError(word + ": expected a value after it");
      return words[i];
    };
    if (word == "--out") {
      options.out = value();
    } else if (word == "--suite") {
      options.suites = suites_of(value(), known);
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--alone") {
      options.alone = true;
    } else if (word == "--unwatched") {
      options.unwatched = true;
    } else if (word == "--largest") {
      options.largest = static_cast<std::int64_t>(number(word, value(), 8, 1e12));
    } else if (word == "--sustained") {
      options.sustained_s = number(word, value(), 1, 3600);
    } else if (word == "--time-limit") {
      options.time_limit = number(word, value(), 1, 1e6);
    } else if (word == "--gpus") {
      options.gpus = static_cast<int>(number(word, value(), 1, 64));
    } else if (word == "--groups") {
      options.group_words = value();
      options.groups = groups_of(word, options.group_words);
    } else if (word == "--nccl-algorithm") {
      options.nccl.algorithm = one_of(word, value(), {"auto", "ring", "tree", "nvls", "nvls_tree", "pat"});
      options.nccl_forced = true;
    } else if (word == "--nccl-protocol") {
      options.nccl.protocol = one_of(word, value(), {"auto", "LL", "LL128", "Simple"});
      options.nccl_forced = true;
    } else if (word == "--help" || word == "-h") {
      options.help = true;
    } else {
      throw UsageError("found '" + word + "'; --help says what is allowed");
    }
  }
  if (options.out.empty() && !options.check && !options.list && !options.help) {
    throw UsageError("--out: expected a folder to write to");
  }
  return options;
}

std::vector<std::string> words_of_suite(const Options& options, const std::string& program, const std::string& suite,
                                        int gpus, const NcclSetting& nccl) {
  const auto plain = [](double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  std::vector<std::string> words{program,   "--out",  options.out.string(), "--suite", suite, "--unwatched",
                                 "--alone", "--gpus", std::to_string(gpus)};
  if (options.quick) words.emplace_back("--quick");
  if (options.time_limit > 0) words.insert(words.end(), {"--time-limit", plain(options.time_limit)});
  if (options.largest > 0) words.insert(words.end(), {"--largest", std::to_string(options.largest)});
  if (suite == "sustained") words.insert(words.end(), {"--sustained", plain(options.sustained_s)});
  if (suite != "nccl") return words;
  if (!options.groups.empty()) words.insert(words.end(), {"--groups", options.group_words});
  words.insert(words.end(), {"--nccl-algorithm", nccl.algorithm, "--nccl-protocol", nccl.protocol});
  return words;
}

const char* usage() {
  return "stepcast_measure --out FOLDER [options]   measures this machine; the folder is what stepcast fits to\n"
         "  --suite LIST        of kernels,sustained,copies,interference,nccl,steps (all)\n"
         "  --quick             only what a fit cannot do without: minutes\n"
         "  --time-limit S      start no kernel later than S seconds into their suite, and no training step later\n"
         "                      than S seconds into theirs; the most valuable cases come first\n"
         "  --gpus N            use the first N GPUs of the node\n"
         "  --groups LIST       measure NCCL on these GPUs: 0,4/0,1,4,5 (the first 2, 3 ... and some that span "
         "sockets)\n"
         "  --nccl-algorithm A  measure NCCL forced to ring, tree, nvls, nvls_tree, pat; with --nccl-protocol LL,\n"
         "  --nccl-protocol P   LL128, Simple. For mpirun; on one node the grid runs by itself\n"
         "  --alone             this node alone: MPI is not asked, even in a job of it\n"
         "  --largest BYTES     measure no larger collective\n"
         "  --sustained S       run each work of the sustained suite for S seconds (30)\n"
         "  --unwatched         measure in this process: where a case ends it, nobody starts it again behind that "
         "case\n"
         "  --check             check every kernel against its reference, and time nothing\n"
         "  --list              print what would be measured; needs no GPU\n"
         "Started again with the same folder it goes on where it stopped.\n"
         "Exit status: 0 done, 1 failed, 2 bad options, 3 a kernel failed its check, 4 no GPU.\n";
}

}  // namespace stepcast::measure
