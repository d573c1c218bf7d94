#include "calibrate/bundle/load.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>

#include "calibrate/logs/expansion.h"
#include "calibrate/logs/unpacking.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeader = 512;  // of a tar member, so that a million empty ones count too

bool is_table(std::string_view name) { return name.ends_with(".csv"); }

[[noreturn]] void too_large(const std::string& shown) {
  throw InputError(shown, "found more than 256 MiB of tables, expected a bundle");
}

std::string read_all(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file.string(), "cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Names below the folder that holds machine.csv, sorted.
std::vector<BundleFile> below_the_bundle(std::vector<BundleFile> files, const std::string& shown) {
  constexpr std::string_view kMachine = "machine.csv";
  std::string folder;
  for (const BundleFile& file : files) {
    if (!file.name.ends_with("/machine.csv")) continue;
    if (!folder.empty()) throw InputError(shown, "found two files machine.csv, expected one bundle");
    folder = file.name.substr(0, file.name.size() - kMachine.size());
  }
  for (BundleFile& file : files) {
    if (folder.empty()) break;
    if (!file.name.starts_with(folder)) throw InputError(shown, "found " + file.name + " beside the bundle " + folder);
    file.name = file.name.substr(folder.size());
  }
  std::ranges::sort(files, {}, &BundleFile::name);
  const auto twice = std::ranges::adjacent_find(files, {}, &BundleFile::name);
  if (twice != files.end()) throw InputError(shown, "found " + twice->name + " a second time");
  return files;
}

}  // namespace

std::vector<BundleFile> unpack_bundle(std::string_view bytes, const std::string& shown) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  const auto check = [&](la_ssize_t code) {
    if (code >= ARCHIVE_WARN) return;
    if (archive_errno(reader.get()) == ENOMEM) throw std::bad_alloc();
    const char* const why = archive_error_string(reader.get());
    throw InputError(shown, std::string("cannot be unpacked: ") + (why == nullptr ? "no tar archive" : why) +
                                ", expected a folder or a tar archive (.tar, .gz, .bz2, .xz, .zst)");
  };
  allow_compression(reader.get());
  archive_read_support_format_tar(reader.get());
  check(archive_read_open_memory(reader.get(), bytes.data(), bytes.size()));
  std::vector<BundleFile> files;
  std::size_t total = 0, unpacked = 0;
  for (archive_entry* entry = nullptr;;) {
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) break;
    check(code);
    unpacked += kHeader;
    check_expansion(bytes.size(), unpacked, shown);
    const char* const path = archive_entry_pathname(entry);
    if (path == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    std::string name = path;
    while (name.starts_with("./")) name.erase(0, 2);
    const bool wanted = is_table(name);
    BundleFile file{std::move(name), {}};
    // What is no table is read too: libarchive would unpack all of it in one go to get past it.
    for (char block[1 << 14];;) {
      const la_ssize_t got = archive_read_data(reader.get(), block, sizeof block);
      check(got);
      if (got <= 0) break;
      unpacked += static_cast<std::size_t>(got);
      check_expansion(bytes.size(), unpacked, shown);
      if (!wanted) continue;
      file.text.append(block, static_cast<std::size_t>(got));
      if (total + file.text.size() > kLargestBundle) too_large(shown);
    }
    total += file.text.size();
    if (wanted) files.push_back(std::move(file));
  }
  return below_the_bundle(std::move(files), shown);
}

std::vector<BundleFile> load_bundle(const fs::path& path) {
  const std::string shown = path.string();
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError(shown, "no such folder or archive");
  if (!fs::is_directory(path, error)) {
    if (fs::file_size(path, error) > kLargestBundle) too_large(shown);
    return unpack_bundle(read_all(path), shown);
  }
  std::vector<BundleFile> files;
  std::size_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    std::string name = entry.path().lexically_relative(path).generic_string();
    if (!entry.is_regular_file() || !is_table(name)) continue;
    total += entry.file_size();
    if (total > kLargestBundle) too_large(shown);
    files.push_back({std::move(name), read_all(entry.path())});
  }
  return below_the_bundle(std::move(files), shown);
}

}  // namespace stepcast::calibrate
