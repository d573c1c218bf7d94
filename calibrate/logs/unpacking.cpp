#include "calibrate/logs/unpacking.h"

#include <archive.h>

#include <memory>

namespace stepcast::calibrate {

void allow_compression(archive* reader) {
  for (const auto support : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                             archive_read_support_filter_xz, archive_read_support_filter_zstd}) {
    const std::unique_ptr<archive, int (*)(archive*)> trial(archive_read_new(), archive_read_free);
    if (support(trial.get()) == ARCHIVE_OK) support(reader);  // a warning: by a program
  }
}

}  // namespace stepcast::calibrate
