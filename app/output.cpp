#include "app/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/write_all.h"
#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

/// Holds back SIGPIPE (and SIGXFSZ), so that what was begun is taken back before they end the program.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGPIPE);
    sigaddset(&held, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

/// From the start, and no more than this.
bool overwrite(int file, std::string_view content) {
  return lseek(file, 0, SEEK_SET) == 0 && write_all(file, content) &&
         ftruncate(file, static_cast<off_t>(content.size())) == 0;
}

/// Nothing where it cannot be read: then it cannot be put back either.
std::optional<std::string> content_of(int file) {
  std::string content;
  for (std::vector<char> block(std::size_t{1} << 16);;) {
    const ssize_t got = pread(file, block.data(), block.size(), static_cast<off_t>(content.size()));
    if (got < 0) return {};
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

/// Those that a copy would lose. Security labels come by themselves.
bool has_attributes(int file) {
  std::array<char, 1024> names{};
  const ssize_t size = flistxattr(file, names.data(), names.size());
  if (size < 0) return errno == ERANGE;
  for (std::string_view rest(names.data(), static_cast<std::size_t>(size)); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (!name.starts_with("security.")) return true;
    rest.remove_prefix(name.size() + 1);
  }
  return false;
}

/// A file on its way to its place: in a folder, with a name that nothing else has, or without one where the file system
/// can do that, which leaves nothing behind even where the program is killed.
class Temporary {
 public:
  /// `like`: what it will replace, of which it takes mode and owner.
  Temporary(fs::path folder, const struct stat* like) : folder_(folder.empty() ? "." : std::move(folder)) {
    if (access("/proc/self/fd", X_OK) == 0)
      file_ = language::Descriptor(open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (!file_) {
      name_ = free_name();
      file_ = language::Descriptor(open(name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
      if (!file_) name_.clear();
    }
    if (!file_ || like == nullptr) return;
    struct stat own {};
    const bool same_owner =
        fstat(file_.number(), &own) == 0 && own.st_uid == like->st_uid && own.st_gid == like->st_gid;
    if ((!same_owner && fchown(file_.number(), like->st_uid, like->st_gid) != 0) ||
        fchmod(file_.number(), like->st_mode & 07777) != 0)
      drop();
  }
  Temporary(Temporary&& other) noexcept
      : folder_(std::move(other.folder_)), name_(std::exchange(other.name_, {})), file_(std::move(other.file_)) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() { drop(); }

  explicit operator bool() const { return static_cast<bool>(file_); }
  bool fill(std::string_view content) const { return write_all(file_.number(), content); }

  /// Puts it in the place of `target`; false where that cannot be.
  bool move_to(const fs::path& target) {
    if (name_.empty()) {
      const fs::path name = free_name(), open_one = "/proc/self/fd/" + std::to_string(file_.number());
      if (linkat(AT_FDCWD, open_one.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
      name_ = name;
    }
    if (!file_.close() || std::rename(name_.c_str(), target.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  fs::path free_name() const {
    const std::string start = ".stepcast-" + std::to_string(getpid()) + "-";
    std::error_code error;
    for (int number = 0;; ++number)
      if (fs::path name = folder_ / (start + std::to_string(number)); !fs::exists(fs::symlink_status(name, error)))
        return name;
  }
  void drop() {
    file_.close();
    if (!name_.empty()) unlink(name_.c_str());
    name_.clear();
  }

  fs::path folder_, name_;  // no name: none yet
  language::Descriptor file_;
};

/// One of the files to be written.
class Target {
 public:
  /// Finds out what stands there. Waits for the reader of a pipe, as every opening of one does.
  explicit Target(const NewFile& file)
      : path_(file.path.empty() ? fs::path(language::kStandardOutput)
                                : fs::path(language::output_named(file.path.string()))),
        file_(language::end_of_links(path_)),
        content_(file.content) {
    if (const std::optional<int> open_one = language::descriptor_named(path_)) {
      file_ = path_;
      direct_ = language::Descriptor(fcntl(*open_one, F_DUPFD_CLOEXEC, 0));
      if (!direct_) fail();
      return;
    }
    struct stat at {};
    if (stat(path_.c_str(), &at) != 0) {
      if (errno != ENOENT) fail();
      replaced_ = true;  // nothing, by all of it
      return;
    }
    struct stat at_end {};
    const bool ends_here =
        lstat(file_.c_str(), &at_end) == 0 && at_end.st_dev == at.st_dev && at_end.st_ino == at.st_ino;
    if (!ends_here) file_ = path_;  // the links of /proc, which lead where no name does
    const bool regular = S_ISREG(at.st_mode);
    if (regular) direct_ = language::Descriptor(open(file_.c_str(), O_RDWR | O_CLOEXEC));
    if (!direct_) direct_ = language::Descriptor(open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!direct_) fail();
    if (!regular) return;
    in_place_ = true;
    replaced_ = ends_here && at.st_nlink == 1 && !has_attributes(direct_.number());
    if (replaced_) like_ = at;
  }

  /// Nothing that stands there has changed yet.
  void prepare() {
    if (!replaced_) return;
    temporary_.emplace(file_.parent_path(), like_ ? &*like_ : nullptr);
    if (*temporary_) {
      if (!temporary_->fill(content_)) fail();
      return;
    }
    if (!in_place_) fail();
    temporary_.reset();
  }

  bool is_through() const { return !in_place_ && !replaced_; }
  bool is_in_place() const { return in_place_ && !temporary_; }

  void write_through() {
    if (language::descriptor_named(path_) == STDOUT_FILENO) std::fflush(stdout);
    if (!write_all(direct_.number(), content_) || !direct_.close()) fail();
  }

  void write_in_place() {
    before_ = content_of(direct_.number());
    if (!overwrite(direct_.number(), content_)) fail();
  }

  void replace() {
    if (!temporary_ || temporary_->move_to(file_)) return;
    if (!in_place_) fail();
    write_in_place();
  }

  void take_back() const {
    if (before_) overwrite(direct_.number(), *before_);
  }

 private:
  [[noreturn]] void fail() const { cannot_write(path_, errno); }

  fs::path path_, file_;  ///< as named; at the end of links
  std::string_view content_;
  language::Descriptor direct_;  ///< to what stands there
  bool in_place_ = false, replaced_ = false;
  std::optional<struct stat> like_;
  std::optional<Temporary> temporary_;
  std::optional<std::string> before_;  ///< what was written over
};

}  // namespace

void write_files(std::span<const NewFile> files) {
  const HeldSignals held;
  std::vector<Target> targets;
  targets.reserve(files.size());
  for (const NewFile& file : files) targets.emplace_back(file);
  try {
    for (Target& target : targets) target.prepare();
    for (Target& target : targets)
      if (target.is_in_place()) target.write_in_place();
    for (Target& target : targets)
      if (target.is_through()) target.write_through();
    for (Target& target : targets) target.replace();
  } catch (...) {
    for (const Target& target : targets) target.take_back();
    throw;
  }
}

bool is_stdout(const std::string& path) {
  return path.empty() || language::descriptor_named(language::output_named(path)) == STDOUT_FILENO;
}

void write_output(const std::string& path, const std::string& content) {
  const NewFile file{path, content};
  write_files({&file, 1});
}

}  // namespace stepcast::app
