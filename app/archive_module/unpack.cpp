#include "app/archive_module/unpack.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <memory>
#include <new>

namespace {

using stepcast::calibrate::PackedForm;
using stepcast::calibrate::UnpackedSink;

using Reader = std::unique_ptr<archive, int (*)(archive*)>;

Reader new_reader() {
  Reader reader(archive_read_new(), archive_read_free);
  if (!reader) throw std::bad_alloc();
  return reader;
}

/// What libarchive could do only by starting a program, it is not allowed to do.
void allow_compression(archive* reader) {
  for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                             archive_read_support_filter_xz, archive_read_support_filter_zstd})
    if (support(new_reader().get()) == ARCHIVE_OK) support(reader);  // a warning: by a program
}

void allow_form(archive* reader, PackedForm form) {
  if (form == PackedForm::archive) {
    archive_read_support_format_tar(reader);
    return;
  }
  archive_read_support_format_raw(reader);
  archive_read_support_format_empty(reader);
}

/// Whether libarchive went on; of a failure `error` is what it says.
bool went_on(archive* reader, la_ssize_t code, std::string& error) {
  if (code >= ARCHIVE_WARN) return true;
  if (archive_errno(reader) == ENOMEM) throw std::bad_alloc();
  if (const char* const why = archive_error_string(reader)) error = why;
  return false;
}

bool read_member(archive* reader, UnpackedSink& to, std::string& error) {
  for (char block[1 << 14];;) {
    const la_ssize_t got = archive_read_data(reader, block, sizeof block);
    if (!went_on(reader, got, error)) return false;
    if (got <= 0) return true;
    to.append({block, static_cast<std::size_t>(got)});
  }
}

}  // namespace

bool stepcast_unpack(std::string_view packed, PackedForm form, UnpackedSink& to, std::string& error) {
  const Reader reader = new_reader();
  allow_compression(reader.get());
  allow_form(reader.get(), form);
  if (!went_on(reader.get(), archive_read_open_memory(reader.get(), packed.data(), packed.size()), error)) return false;
  for (archive_entry* entry = nullptr;;) {
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) return true;
    if (!went_on(reader.get(), code, error)) return false;
    const char* const name = archive_entry_pathname(entry);
    const bool is_file = name != nullptr && archive_entry_filetype(entry) == AE_IFREG;
    to.begin(is_file ? name : "");
    // What nobody wants is read too: libarchive would unpack all of it in one go to get past it.
    if (is_file && !read_member(reader.get(), to, error)) return false;
  }
}
