#include "calibrate/bundle/load.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "calibrate/logs/expansion.h"
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

/// The tables of an archive. All of its members count, whatever they are: they take time to get past.
class UnpackedTables : public UnpackedSink {
 public:
  UnpackedTables(std::size_t packed, const std::string& shown) : packed_(packed), shown_(shown) {}
  void begin(std::string_view name) override {
    count(kHeader);
    while (name.starts_with("./")) name.remove_prefix(2);
    wanted_ = is_table(name);
    if (wanted_) files_.push_back({std::string(name), {}});
  }
  void append(std::string_view block) override {
    count(block.size());
    if (!wanted_) return;
    files_.back().text.append(block);
    total_ += block.size();
    if (total_ > kLargestBundle) too_large(shown_);
  }
  std::vector<BundleFile>& files() { return files_; }

 private:
  void count(std::size_t bytes) {
    unpacked_ += bytes;
    check_expansion(packed_, unpacked_, shown_);
  }

  std::size_t packed_;
  const std::string& shown_;
  std::vector<BundleFile> files_;
  std::size_t total_ = 0, unpacked_ = 0;
  bool wanted_ = false;
};

}  // namespace

std::vector<BundleFile> unpack_bundle(std::string_view packed, const std::string& shown, Unpacker unpacker) {
  UnpackedTables tables(packed.size(), shown);
  std::string error;
  if (!unpacker(packed, PackedForm::archive, tables, error))
    throw InputError(shown, "cannot be unpacked: " + (error.empty() ? "no tar archive" : error) +
                                ", expected a folder or a tar archive (.tar, .gz, .bz2, .xz, .zst)");
  return below_the_bundle(std::move(tables.files()), shown);
}

std::vector<BundleFile> load_bundle(const fs::path& folder) {
  const std::string shown = folder.string();
  std::vector<BundleFile> files;
  std::size_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    std::string name = entry.path().lexically_relative(folder).generic_string();
    if (!entry.is_regular_file() || !is_table(name)) continue;
    total += entry.file_size();
    if (total > kLargestBundle) too_large(shown);
    files.push_back({std::move(name), read_all(entry.path())});
  }
  return below_the_bundle(std::move(files), shown);
}

}  // namespace stepcast::calibrate
