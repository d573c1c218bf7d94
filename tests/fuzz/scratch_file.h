#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace stepcast::test {

/// A folder in memory where there is one (/dev/shm), for readers that take a path. Gone with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code error;
    const auto parent = std::filesystem::is_directory(memory, error) ? memory : std::filesystem::temp_directory_path();
    std::string name = (parent / "stepcast-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  /// Writes a file, over what has its name, and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string file = (path_ / name).string();
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) std::abort();
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
      if (count <= 0) std::abort();
      done += static_cast<std::size_t>(count);
    }
    close(descriptor);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace stepcast::test
