#pragma once

#include <string>

#include "app/read_file.h"

namespace stepcast::app {

struct FitCurvesOptions {
  bool check = false;  ///< fit nothing: every curve's error by configs/ as they are
  std::string output;  ///< check: a file; otherwise a folder; "" for standard output
};

/// `stepcast fit curves.csv`: fits the stacks that the table names and all links of networks together, as files of
/// configs/software/ and blocks for those of configs/links/, and says how far off each machine is when what is fitted
/// to the others predicts it. Returns an exit status.
int fit_curves(const ReadFile& table, const FitCurvesOptions& options);

}  // namespace stepcast::app
