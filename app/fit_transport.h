#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace stepcast::app {

/// A file that the command names.
struct ReadFile {
  std::string path, text;
};

struct FitTransportOptions {
  std::string software;  ///< the stack to start from, whose curves are fitted
  bool check = false;    ///< fit nothing: every curve's error under its own stack
  std::string output;    ///< file; "" for standard output
};

/// `stepcast fit curves.csv`: fits a stack's transport to the curves that are marked `fitted`, or tries the stacks on
/// all of them. Returns an exit status.
int fit_transport_to(const ReadFile& table, const FitTransportOptions& options);

/// `stepcast fit LOG...`: the same from logs of nccl-tests on the machine that the options name; see read_setting.
int fit_transport_to_logs(const std::vector<ReadFile>& logs, const boost::program_options::variables_map& values);

}  // namespace stepcast::app
