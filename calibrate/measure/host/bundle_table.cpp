#include "calibrate/measure/host/bundle_table.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace stepcast::measure {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirstLine = "# stepcast measurement 1";

/// Whole lines of a file; what follows the last newline is half a line and left out.
std::vector<std::string> whole_lines(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::string> lines;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return lines;
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

void write(const fs::path& file, const std::string& text, std::ios::openmode mode) {
  std::ofstream stream(file, std::ios::binary | mode);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace

std::string seconds_cell(double seconds) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6e", seconds);
  return text.data();
}

std::string in_quotes(const std::string& cell) {
  std::string clean;
  for (const char c : cell) clean += c < ' ' || c > '~' ? '?' : c;
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string text = "\"";
  for (const char c : clean) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string run_of(const fs::path& file) {
  constexpr std::size_t kLabel = 6;  // "# run "
  const std::vector<std::string> lines = whole_lines(file);
  return lines.size() >= 2 && lines[0] == kFirstLine && lines[1].rfind("# run ", 0) == 0 ? lines[1].substr(kLabel) : "";
}

BundleTable::BundleTable(fs::path file, std::string run, std::vector<std::string> columns, std::size_t key_columns)
    : file_(std::move(file)), run_(std::move(run)), columns_(std::move(columns)), key_columns_(key_columns) {
  const bool finished = !fs::exists(part()) && fs::exists(file_);
  if (finished) fs::copy_file(file_, part());
  if (fs::exists(part()) && !whole_lines(part()).empty()) {
    refresh();
    std::string text = head();  // without half a line, without "# end N"
    for (const std::string& line : lines_) text += line + "\n";
    const fs::path fresh = part().string() + ".tmp";
    write(fresh, text, std::ios::trunc);
    fs::rename(fresh, part());
  } else {
    write(part(), head(), std::ios::trunc);
  }
}

std::string BundleTable::line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + in_quotes(cells[i]);
  return line;
}

std::string BundleTable::head() const {
  return std::string(kFirstLine) + "\n# run " + run_ + "\n" + line_of(columns_) + "\n";
}

fs::path BundleTable::part() const { return file_.string() + ".part"; }

void BundleTable::refresh() {
  const std::vector<std::string> lines = whole_lines(part());
  const std::string wanted = head();
  std::string found;
  for (std::size_t i = 0; i < 3 && i < lines.size(); ++i) found += lines[i] + "\n";
  if (found != wanted) {
    throw std::runtime_error(part().string() + ": of another run or another form; expected run " + run_ +
                             ": name another folder with --out");
  }
  lines_.clear();
  keys_.clear();
  for (std::size_t i = 3; i < lines.size(); ++i) {
    if (lines[i].rfind('#', 0) == 0) continue;
    std::vector<std::string> cells = cells_of(lines[i]);
    if (cells.size() != columns_.size()) continue;  // two processes' halves: measured again
    cells.resize(key_columns_);
    if (keys_.insert(line_of(cells)).second) lines_.push_back(lines[i]);
  }
}

void BundleTable::add(const std::vector<std::string>& cells) {
  if (cells.size() != columns_.size()) throw std::logic_error(file_.string() + ": a row of another width");
  const std::vector<std::string> key(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(key_columns_));
  if (!keys_.insert(line_of(key)).second) throw std::logic_error(file_.string() + ": twice " + line_of(key));
  lines_.push_back(line_of(cells));
  write(part(), lines_.back() + "\n", std::ios::app);
}

void BundleTable::finish() {
  std::string text = head();
  for (const std::string& line : lines_) text += line + "\n";
  text += "# end " + std::to_string(lines_.size()) + "\n";
  const fs::path fresh = file_.string() + ".tmp";
  write(fresh, text, std::ios::trunc);
  fs::rename(fresh, file_);
  fs::remove(part());
}

}  // namespace stepcast::measure
