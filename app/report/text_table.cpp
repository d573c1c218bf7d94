#include "app/report/text_table.h"

#include <algorithm>

#include "language/core/visible_text.h"
#include "language/tables/csv.h"

namespace stepcast::app {

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = language::visible(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::string_view indent) const {
  std::vector<std::size_t> width;
  for (const Column& column : columns_) width.push_back(column.title.size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());

  std::string out;
  const auto line = [&](const auto& cell_at) {
    std::string text(indent);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_at(i);
      const std::string blanks(width[i] - cell.size(), ' ');
      if (i > 0) text += "  ";
      text += columns_[i].align == Align::left ? cell + blanks : blanks + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) line([&](std::size_t i) -> const std::string& { return row[i]; });
  return out;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i > 0 ? "," : "") + language::csv_cell(language::visible_lines(cells[i]));
  return line + "\n";
}

}  // namespace stepcast::app
