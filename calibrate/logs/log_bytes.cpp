#include "calibrate/logs/log_bytes.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <new>

#include "calibrate/logs/expansion.h"
#include "calibrate/logs/unpacking.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::size_t kBlock = 1 << 16, kLargest = std::size_t{4} << 30;

/// `packed`: how many bytes there are. `open`: of a reader, returns libarchive's code.
std::string unpack(const std::string& shown, std::size_t packed, const std::function<int(archive*)>& open) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  const auto check = [&](la_ssize_t code) {
    if (code >= ARCHIVE_WARN) return;
    if (archive_errno(reader.get()) == ENOMEM) throw std::bad_alloc();
    const char* const why = archive_error_string(reader.get());
    throw InputError(shown, std::string("cannot be read: ") + (why == nullptr ? "unknown reason" : why));
  };
  allow_compression(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  check(open(reader.get()));
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

}  // namespace

std::string read_log(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw InputError(file.string(), "found a directory, expected a file");
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(file.string(), "no such file");
  return unpack(file.string(), std::filesystem::file_size(file, error),
                [&](archive* reader) { return archive_read_open_filename(reader, file.c_str(), kBlock); });
}

std::string unpack_log(std::string_view bytes, const std::string& shown) {
  return unpack(shown, bytes.size(),
                [&](archive* reader) { return archive_read_open_memory(reader, bytes.data(), bytes.size()); });
}

}  // namespace stepcast::calibrate
