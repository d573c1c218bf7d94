#include "calibrate/logs/log_bytes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "calibrate/logs/expansion.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using namespace std::string_view_literals;

/// The first bytes of gzip (RFC 1952, deflated), bzip2, xz and zstd (RFC 8878).
constexpr std::array kPackedBegins{"\x1f\x8b\x08"sv, "BZh"sv, "\3757zXZ\0"sv, "\x28\xb5\x2f\xfd"sv};

/// Of zstd too: parallel compressors begin with a frame that is skipped, of sixteen first bytes.
bool begins_with_skipped_frame(std::string_view bytes) {
  return bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x50 &&
         bytes.substr(1, 3) == "\x2a\x4d\x18"sv;
}

class UnpackedLog : public UnpackedSink {
 public:
  UnpackedLog(std::size_t packed, const std::string& shown) : packed_(packed), shown_(shown) {}
  void begin(std::string_view) override {}
  void append(std::string_view block) override {
    bytes_.append(block);
    check_expansion(packed_, bytes_.size(), shown_);
    if (bytes_.size() > kLargestLog) throw InputError(shown_, "found more than 4 GiB, expected a smaller log");
  }
  std::string& bytes() { return bytes_; }

 private:
  std::size_t packed_;
  const std::string& shown_;
  std::string bytes_;
};

}  // namespace

bool is_packed(std::string_view bytes) {
  return begins_with_skipped_frame(bytes) ||
         std::ranges::any_of(kPackedBegins, [&](std::string_view begin) { return bytes.starts_with(begin); });
}

std::string unpack_log(std::string_view bytes, const std::string& shown, Unpacker unpacker) {
  UnpackedLog log(bytes.size(), shown);
  std::string error;
  if (!unpacker(bytes, PackedForm::stream, log, error))
    throw InputError(shown, "cannot be read: " + (error.empty() ? "unknown reason" : error));
  return std::move(log.bytes());
}

}  // namespace stepcast::calibrate
