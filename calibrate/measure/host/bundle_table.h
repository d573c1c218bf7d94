#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stepcast::measure {

/// One CSV of a bundle, written so that a run which is killed can go on later: rows are appended to FILE.part as they
/// are measured, and finish() makes FILE of them in one rename.
class BundleTable {
 public:
  /// `columns`: the header; the first `key_columns` of them say what was measured. Takes over the rows of FILE.part
  /// or FILE from an earlier start of the same run; half a last line is dropped. Throws std::runtime_error where the
  /// file is of another run or has another header.
  BundleTable(std::filesystem::path file, std::string run, std::vector<std::string> columns, std::size_t key_columns);

  /// Whether a row with this key is there already.
  bool has(const std::vector<std::string>& key) const { return keys_.count(line_of(key)) != 0; }
  std::size_t rows() const { return keys_.size(); }

  /// Appends a row and flushes it to disk. Requires as many cells as columns; a key twice is an error of ours.
  void add(const std::vector<std::string>& cells);

  /// Reads rows that other processes appended to FILE.part meanwhile.
  void refresh();

  /// Writes the line "# end N" and gives the file its name. Can be called again after more rows.
  void finish();

 private:
  static std::string line_of(const std::vector<std::string>& cells);
  std::string head() const;
  std::filesystem::path part() const;

  std::filesystem::path file_;
  std::string run_;
  std::vector<std::string> columns_;
  std::size_t key_columns_;
  std::vector<std::string> lines_;
  std::set<std::string> keys_;
};

/// "1.234560e-05", as all times of a bundle are written.
std::string seconds_cell(double seconds);
/// `cell` in quotes where RFC 4180 needs them; bytes that are no printable ASCII become '?'.
std::string in_quotes(const std::string& cell);
/// The cells of a line that line_of() or in_quotes() wrote.
std::vector<std::string> cells_of(const std::string& line);
/// The run that a file of a bundle names, "" where there is no such file or line.
std::string run_of(const std::filesystem::path& file);

}  // namespace stepcast::measure
