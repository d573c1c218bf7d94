#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stepcast::measure {

/// A runs table of a bundle (steps/*.csv): plain CSV, a header and a row for each run, whose first cell is its name.
/// Whole after every row, so that a run which is killed can go on later.
class RunsTableFile {
 public:
  /// Takes over the rows that `file` has. Throws std::runtime_error where it has other columns.
  RunsTableFile(std::filesystem::path file, const std::vector<std::string>& columns);

  bool has(const std::string& name) const { return names_.count(name) != 0; }
  /// Requires as many cells as columns, and a new name.
  void add(const std::vector<std::string>& cells);

 private:
  std::filesystem::path file_;
  std::size_t width_;
  std::string text_;
  std::set<std::string> names_;
};

}  // namespace stepcast::measure
