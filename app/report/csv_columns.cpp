#include "app/report/csv_columns.h"

#include <algorithm>

namespace stepcast::app {

std::vector<const schedules::ReportedQuantity*> csv_columns() {
  std::vector<const schedules::ReportedQuantity*> columns;
  for (const schedules::ReportedQuantity& quantity : schedules::quantities())
    if (quantity.places.csv != schedules::Places::kNoColumn) columns.push_back(&quantity);
  std::ranges::stable_sort(columns, {}, [](const schedules::ReportedQuantity* column) { return column->places.csv; });
  return columns;
}

}  // namespace stepcast::app
