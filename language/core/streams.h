#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace stepcast::language {

inline constexpr const char* kStandardInput = "/dev/stdin";
inline constexpr const char* kStandardOutput = "/dev/stdout";

/// An open file that closes itself; below 0: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Whether all that was written has arrived, as far as the system tells; errno says why not.
  bool close();

 private:
  int number_;
};

/// The file descriptor that a path names: of /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N, as
/// shells write `<(...)` and `>(...)`. Such a one is used as it is: opening its name would lose its position, and fails
/// on a socket.
std::optional<int> descriptor_named(const std::filesystem::path& path);

/// Whether what stands at the path is no file of which a name could say what it holds: an open descriptor, a pipe, a
/// device, a socket. Nothing can be told of it but by reading it, once.
bool is_stream(const std::filesystem::path& path);

/// What a link stands for, by way of others too, whether that is there or not; any other path as it is.
std::filesystem::path end_of_links(std::filesystem::path path);

/// What a word of the command line means as a file that is read: "-" is standard input.
std::string input_named(const std::string& word);

/// What a word of the command line means as a file that is written: "-" is standard output.
std::string output_named(const std::string& word);

}  // namespace stepcast::language
