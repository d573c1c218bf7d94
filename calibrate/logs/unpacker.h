#pragma once

#include <string>
#include <string_view>

namespace stepcast::calibrate {

/// What packed bytes are.
enum class PackedForm {
  stream,   ///< a file, compressed or not
  archive,  ///< a tar archive, compressed or not
};

/// Is told what comes out of packed bytes, as it comes. What it throws ends the unpacking.
struct UnpackedSink {
  /// A member of an archive begins; `name` is empty where it is no file. A stream is one member of any name.
  virtual void begin(std::string_view name) = 0;
  /// The next bytes of the member.
  virtual void append(std::string_view block) = 0;
  virtual ~UnpackedSink() = default;
};

/// Unpacks gzip, bzip2, xz, zstd and tar. No more than these, and without starting another program: for others, a
/// file's content would name a program to run. Returns whether that went well; if not, `error` is why, or empty where
/// nobody says. Throws std::bad_alloc. Calibration is given one (app/unpacker.h): loading what unpacks took a quarter
/// of the time of start-up, and few runs read what is packed.
using Unpacker = bool (*)(std::string_view packed, PackedForm form, UnpackedSink& to, std::string& error);

}  // namespace stepcast::calibrate
