#include "calibrate/measure/host/refusals.h"

#include <algorithm>

namespace stepcast::measure {

Refusals::Refusals(const std::filesystem::path& folder, const std::string& run)
    : file_(folder / "refused.csv"), table_(file_, run, {"suite", "case", "why"}, 2) {}

void Refusals::add(const std::string& suite, const std::string& what, const std::string& why) {
  if (has(suite, what)) return;
  std::string line = why.empty() ? "-" : why;  // one line, as a row is
  std::ranges::replace(line, '\n', ' ');
  table_.add({suite, what, line});
}

void Refusals::finish() {
  if (table_.rows() > 0) {
    table_.finish();
  } else {
    std::filesystem::remove(file_.string() + ".part");
  }
}

}  // namespace stepcast::measure
