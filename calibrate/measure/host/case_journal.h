#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace stepcast::measure {

/// The case that a process is at, on disk: who started the process reads there which case ended or hung it.
class CaseJournal {
 public:
  struct CaseUnderWay {
    std::string suite, what;
    std::string why;  ///< what the process had to say before it ended itself; empty: nothing
    bool operator==(const CaseUnderWay&) const = default;
  };

  explicit CaseJournal(const std::filesystem::path& folder);
  void begin(const std::string& suite, const std::string& what);
  /// Why the case that was begun is given up; the process ends after it.
  void give_up(const std::string& why);
  void end();
  /// The case that was begun and not ended, of this process or one before it.
  std::optional<CaseUnderWay> under_way() const;

 private:
  void write(const CaseUnderWay& entry) const;
  std::filesystem::path file_;
};

}  // namespace stepcast::measure
