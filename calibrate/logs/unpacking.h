#pragma once

struct archive;

namespace stepcast::calibrate {

/// Lets a reader of libarchive unpack gzip, bzip2, xz and zstd, each where libarchive does it itself. No more than
/// these: for others, a file's content would start a program of its choice.
void allow_compression(archive* reader);

}  // namespace stepcast::calibrate
