#include "app/named_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "app/write_all.h"
#include "language/core/streams.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

/// What tells a file from others: where it stands, and what stands there.
class Identity {
 public:
  explicit Identity(const fs::path& path) : descriptor_(language::descriptor_named(path)) {
    struct stat status {};
    const int found = descriptor_ ? fstat(*descriptor_, &status) : stat(path.c_str(), &status);
    if (found == 0) {
      status_ = status;
      return;
    }
    std::error_code error;
    place_ = fs::weakly_canonical(fs::absolute(language::end_of_links(path), error), error);
  }

  bool operator==(const Identity& other) const {
    if (descriptor_ && descriptor_ == other.descriptor_) return true;
    if (!status_ || !other.status_) return !status_ && !other.status_ && place_ == other.place_;
    const bool kept = S_ISREG(status_->st_mode) || S_ISFIFO(status_->st_mode);
    return kept && status_->st_dev == other.status_->st_dev && status_->st_ino == other.status_->st_ino;
  }

 private:
  std::optional<int> descriptor_;
  std::optional<struct stat> status_;
  fs::path place_;  ///< of what is not there yet
};

/// Throws what writing it would.
void check_folder(const fs::path& file) {
  if (language::descriptor_named(file)) return;
  const fs::path folder = language::end_of_links(file).parent_path();
  std::error_code error;
  if (folder.empty()) return;
  const fs::file_type type = fs::status(folder, error).type();
  if (type == fs::file_type::not_found) cannot_write(file, ENOENT);
  if (type == fs::file_type::regular) cannot_write(file, ENOTDIR);
}

}  // namespace

NamedFile named_output(const std::string& word) {
  return word.empty() ? NamedFile{"standard output", "-"} : NamedFile{"--output", word};
}

void check_outputs(std::span<const NamedFile> outputs, std::span<const fs::path> inputs) {
  struct KnownFile {
    const NamedFile& file;
    Identity identity;
  };
  std::vector<KnownFile> known;
  for (const NamedFile& output : outputs) {
    if (output.path.empty()) continue;
    known.push_back({output, Identity(language::output_named(output.path))});
    for (std::size_t i = 0; i + 1 < known.size(); ++i)
      if (known[i].identity == known.back().identity)
        throw InputError(output.flag, "found '" + output.path + "', which is where " + known[i].file.flag +
                                          " goes too, expected a file of its own");
  }
  for (const fs::path& input : inputs) {
    const Identity read(input);
    for (const KnownFile& each : known)
      if (each.identity == read)
        throw InputError(each.file.flag, "found '" + each.file.path + "', which is read as '" + input.string() +
                                             "', expected another file");
  }
  for (const KnownFile& each : known) check_folder(language::output_named(each.file.path));
}

}  // namespace stepcast::app
