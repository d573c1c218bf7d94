#include "app/report/text_table.h"

#include <algorithm>

#include "language/core/visible_text.h"
#include "language/tables/csv.h"

namespace stepcast::app {
namespace {

constexpr std::string_view kBetween = "  ";
std::size_t most_wide = 0;  // 0: any width

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = language::visible(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  return widths;
}

std::string TextTable::text(std::string_view indent) const {
  const std::vector<std::size_t> width = widths();
  std::string out;
  const auto line = [&](std::size_t first, std::size_t end, const auto& cell_at) {
    std::string text(indent);
    const auto add = [&](std::size_t i) {
      const std::string& cell = cell_at(i);
      const std::string blanks(width[i] - cell.size(), ' ');
      text += columns_[i].align == Align::left ? cell + blanks : blanks + cell;
    };
    add(0);
    for (std::size_t i = first; i < end; ++i) {
      text += kBetween;
      add(i);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  if (columns_.empty()) return out;
  for (std::size_t first = 1; first == 1 || first < columns_.size();) {
    std::size_t end = first, wide = indent.size() + width[0];
    while (end < columns_.size()) {
      // What has no title is remarks, which stay where they are.
      if (!columns_[end].title.empty()) wide += kBetween.size() + width[end];
      if (end > first && most_wide != 0 && wide > most_wide) break;
      ++end;
    }
    if (first > 1) out += "\n";
    line(first, end, [&](std::size_t i) -> const std::string& { return columns_[i].title; });
    for (const auto& row : rows_) line(first, end, [&](std::size_t i) -> const std::string& { return row[i]; });
    first = std::max(end, first + 1);
  }
  return out;
}

void fit_tables(std::size_t width) { most_wide = width; }

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i > 0 ? "," : "") + language::csv_cell(language::visible_lines(cells[i]));
  return line + "\n";
}

}  // namespace stepcast::app
