#pragma once

#include <filesystem>
#include <string>

#include "calibrate/measure/host/bundle_table.h"

namespace stepcast::measure {

/// refused.csv of a bundle: cases that could not be measured, each with its reason, so that a reader knows what is
/// missing and a later start does not try them again.
class Refusals {
 public:
  Refusals(const std::filesystem::path& folder, const std::string& run);
  bool has(const std::string& suite, const std::string& what) const { return table_.has({suite, what}); }
  /// Adds it, or nothing where it is there already.
  void add(const std::string& suite, const std::string& what, const std::string& why);
  /// Reads what other processes added meanwhile.
  void refresh() { table_.refresh(); }
  /// Gives the table its name; none where nothing was refused.
  void finish();

 private:
  std::filesystem::path file_;
  BundleTable table_;
};

}  // namespace stepcast::measure
