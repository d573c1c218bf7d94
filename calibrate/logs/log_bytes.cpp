#include "calibrate/logs/log_bytes.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "calibrate/logs/expansion.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {

std::string read_log(const std::filesystem::path& file) {
  constexpr std::size_t kBlock = 1 << 16, kLargest = std::size_t{4} << 30;
  const std::string shown = file.string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(shown, "no such file");
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  const auto check = [&](la_ssize_t code) {
    if (code >= ARCHIVE_WARN) return;
    const char* const why = archive_error_string(reader.get());
    throw InputError(shown, std::string("cannot be read: ") + (why == nullptr ? "unknown reason" : why));
  };
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  check(archive_read_open_filename(reader.get(), file.c_str(), kBlock));
  const std::size_t packed = std::filesystem::file_size(file, error);
  std::string bytes;
  archive_entry* entry = nullptr;
  const int header = archive_read_next_header(reader.get(), &entry);
  if (header == ARCHIVE_EOF) return bytes;
  check(header);
  for (char block[kBlock];;) {
    const la_ssize_t got = archive_read_data(reader.get(), block, sizeof block);
    check(got);
    if (got <= 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(got));
    check_expansion(packed, bytes.size(), shown);
    if (bytes.size() > kLargest) throw InputError(shown, "found more than 4 GiB, expected a smaller log");
  }
}

}  // namespace stepcast::calibrate
