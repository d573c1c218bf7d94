#include "calibrate/measure/host/case_journal.h"

#include <fstream>
#include <stdexcept>

namespace stepcast::measure {

CaseJournal::CaseJournal(const std::filesystem::path& folder) : file_(folder / "under_way.tmp") {}

void CaseJournal::write(const CaseUnderWay& entry) const {
  const std::filesystem::path fresh = file_.string() + ".new";
  std::ofstream stream(fresh, std::ios::binary | std::ios::trunc);
  stream << entry.suite << '\n' << entry.what << '\n' << entry.why << '\n' << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + fresh.string());
  stream.close();
  std::filesystem::rename(fresh, file_);
}

void CaseJournal::begin(const std::string& suite, const std::string& what) { write({suite, what, ""}); }

void CaseJournal::give_up(const std::string& why) {
  std::string line = why;
  for (char& c : line)
    if (c == '\n') c = ' ';
  if (std::optional<CaseUnderWay> entry = under_way()) write({entry->suite, entry->what, line});
}

void CaseJournal::end() {
  std::error_code none;
  std::filesystem::remove(file_, none);
}

std::optional<CaseJournal::CaseUnderWay> CaseJournal::under_way() const {
  std::ifstream stream(file_, std::ios::binary);
  CaseUnderWay entry;
  if (!std::getline(stream, entry.suite) || !std::getline(stream, entry.what)) return {};
  std::getline(stream, entry.why);
  return entry;
}

}  // namespace stepcast::measure
