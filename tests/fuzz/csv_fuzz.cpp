// Any bytes as a CSV file. What is read, written out and read again is the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "language/tables/csv.h"
#include "sim/input_error.h"

namespace {

using stepcast::language::Record;

bool same(const std::vector<Record>& a, const std::vector<Record>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return false;
    for (std::size_t k = 0; k < a[i].size(); ++k) {
      if (a[i][k].text != b[i][k].text) return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  std::vector<Record> records;
  try {
    records = language::parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  } catch (const InputError&) {
    return 0;
  }
  std::string written;
  for (const Record& record : records) {
    for (std::size_t i = 0; i < record.size(); ++i) {
      if (i > 0) written += ',';
      written += record[i].text.empty() ? "\"\"" : language::csv_cell(record[i].text);
    }
    written += '\n';
  }
  if (!records.empty() && !same(records, language::parse_csv(written, "again.csv"))) std::abort();
  return 0;
}
