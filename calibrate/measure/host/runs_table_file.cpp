#include "calibrate/measure/host/runs_table_file.h"

#include <fstream>
#include <stdexcept>

#include "calibrate/measure/host/bundle_table.h"

namespace stepcast::measure {
namespace {

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + in_quotes(cell);
  return line + "\n";
}

}  // namespace

RunsTableFile::RunsTableFile(std::filesystem::path file, const std::vector<std::string>& columns)
    : file_(std::move(file)), width_(columns.size()), text_(line_of(columns)) {
  std::ifstream stream(file_, std::ios::binary);
  std::string line;
  if (!std::getline(stream, line)) return;
  if (line + "\n" != text_)
    throw std::runtime_error(file_.string() + ": has other columns: name another folder with --out");
  while (std::getline(stream, line)) {
    names_.insert(cells_of(line).front());
    text_ += line + "\n";
  }
}

void RunsTableFile::add(const std::vector<std::string>& cells) {
  if (cells.size() != width_) throw std::logic_error(file_.string() + ": a row of another width");
  if (!names_.insert(cells.front()).second) throw std::logic_error(file_.string() + ": twice " + cells.front());
  text_ += line_of(cells);
  const std::filesystem::path fresh = file_.string() + ".tmp";
  std::ofstream stream(fresh, std::ios::binary | std::ios::trunc);
  stream << text_ << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + fresh.string());
  stream.close();
  std::filesystem::rename(fresh, file_);
}

}  // namespace stepcast::measure
