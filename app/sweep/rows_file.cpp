#include "app/sweep/rows_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "app/write_all.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

RowsFile::RowsFile(const std::string& path, const std::string& header, const std::string& first_bytes,
                   const std::function<void(std::string_view)>& keep)
    : path_(path.empty() ? language::kStandardOutput : language::output_named(path)) {
  bool regular = false;
  if (const std::optional<int> open_one = language::descriptor_named(path_)) {
    file_ = language::Descriptor(fcntl(*open_one, F_DUPFD_CLOEXEC, 0));
  } else if (language::is_stream(path_)) {
    file_ = language::Descriptor(open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  } else {
    file_ = language::Descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    regular = true;
  }
  if (!file_) fail();
  if (regular)
    go_on(header, first_bytes, keep);
  else
    append(header);
}

void RowsFile::go_on(const std::string& header, const std::string& first_bytes,
                     const std::function<void(std::string_view)>& keep) {
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw InputError("--output",
                     "found " + in_quotes(path_) + ", which another stepcast writes, expected it to end first");
  std::ifstream in(path_, std::ios::binary);
  std::string line;
  off_t whole = 0;
  bool first = true;
  while (std::getline(in, line)) {
    if (in.eof()) {  // it broke off
      if (first && !line.starts_with(first_bytes) && !first_bytes.starts_with(line))
        throw InputError("--output",
                         "found " + in_quotes(path_) +
                             ", which holds no rows of a sweep, expected a new file or one that this sweep began");
      break;
    }
    if (first && !header.empty()) {
      if (line + "\n" != header)
        throw InputError("--output",
                         "found " + in_quotes(path_) +
                             ", which does not begin with the columns of this sweep, expected a new file or one "
                             "that this sweep began");
    } else {
      keep(line);
    }
    first = false;
    whole += static_cast<off_t>(line.size()) + 1;
  }
  if (ftruncate(file_.number(), whole) != 0) fail();
  if (whole == 0) append(header);
}

void RowsFile::append(std::string_view lines) {
  if (!write_all(file_.number(), lines)) fail();
}

void RowsFile::fail() const { cannot_write(path_, errno); }

}  // namespace stepcast::app
