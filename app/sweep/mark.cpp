#include "app/sweep/mark.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "app/version.h"
#include "language/core/file_text.h"
#include "language/core/stated.h"
#include "language/core/streams.h"

namespace stepcast::app {
namespace {

/// FNV-1a with 64 bits (Fowler, Noll and Vo, RFC draft-eastlake-fnv), of texts each with its length, so that no two
/// lists of texts are one.
class Fingerprint {
 public:
  void add(std::string_view text) {
    const std::string length = std::to_string(text.size()) + ":";
    for (const std::string_view part : {std::string_view(length), text})
      for (const char c : part) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::string digits() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

bool names_files(const SweepAxis& axis) {
  return axis.info->type.kind == language::Type::Kind::block || axis.key == "base" || axis.key == "include" ||
         axis.key.ends_with(".base") || axis.key.ends_with(".include");
}

/// The file that a value names, and all that this one names.
void read_files(language::Variants& base, const SweepAxis& axis, const std::string& value) {
  const language::Place place{"--axis " + axis.key, 0, 0};
  if (axis.info->type.kind == language::Type::Kind::block)
    base.library().expand_block(language::make_scalar(value, place), axis.info->type.fields(), axis.key);
  base.with({{axis.key, value, place}});
}

}  // namespace

std::string sweep_mark(language::Variants& base, const SweepGrid& grid, std::span<const std::string> more) {
  Fingerprint mark;
  mark.add(version());
  mark.add(language::on_one_line(base.tree()));
  for (const SweepDimension& dimension : grid.dimensions()) {
    mark.add("dimension");
    for (const std::size_t axis : dimension.axes) {
      mark.add(grid.axes()[axis].key);
      for (const std::string& value : grid.axes()[axis].values) mark.add(value);
    }
  }
  for (const std::string& each : more) mark.add(each);
  base.with(grid.keys(0));
  for (const SweepAxis& axis : grid.axes())
    if (names_files(axis))
      for (const std::string& value : axis.values) read_files(base, axis, value);
  std::set<std::filesystem::path> known;
  for (const std::filesystem::path& file : base.library().files())
    if (file != base.file() && !language::is_stream(file) && known.insert(file).second)
      mark.add(language::read_file(file, language::shown_path(file)));
  return mark.digits();
}

}  // namespace stepcast::app
