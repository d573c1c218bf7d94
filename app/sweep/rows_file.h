#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "language/core/streams.h"

namespace stepcast::app {

/// A file that lines are written to as they come, and that a later run goes on with: whole lines that are there stay, a
/// last one that broke off is dropped. Standard output, pipes and devices are written through.
class RowsFile {
 public:
  /// `path`: "" or "-" is standard output. `header`: the first line of every such file; "": none. `first_bytes`: how
  /// all of them begin. `keep` is shown each line that is there (the header aside, without line ends) and throws
  /// InputError where it is none of these rows. Throws InputError too, and changes nothing, where the file holds
  /// something else or another process writes it; std::runtime_error where it cannot be written.
  RowsFile(const std::string& path, const std::string& header, const std::string& first_bytes,
           const std::function<void(std::string_view)>& keep);

  /// Adds a line, or some, with their line ends: they are in the file when this returns. Throws std::runtime_error.
  void append(std::string_view lines);

 private:
  void go_on(const std::string& header, const std::string& first_bytes,
             const std::function<void(std::string_view)>& keep);
  [[noreturn]] void fail() const;

  std::string path_;
  language::Descriptor file_;
};

}  // namespace stepcast::app
