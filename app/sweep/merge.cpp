#include "app/sweep/merge.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <queue>
#include <utility>

#include "app/sweep/row.h"
#include "language/core/file_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// The rows of one file, one after the other.
class ShardFile {
 public:
  explicit ShardFile(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_ || !std::filesystem::is_regular_file(path)) {
      language::read_file(path, path);  // throws, with why
      fail("found no file that can be read again, expected one that a sweep wrote");
    }
    find_end();
    in_.clear();
    in_.seekg(0);
    if (format_ == Format::csv) std::getline(in_, header_);
    next();
  }

  const std::string& path() const { return path_; }
  const std::string& header() const { return header_; }
  const std::string& sweep() const { return sweep_; }
  Format format() const { return format_; }
  const Shard& shard() const { return shard_; }
  bool done() const { return !mark_.point; }
  std::size_t point() const { return *mark_.point; }
  const std::string& line() const { return line_; }

  void next() {
    const std::optional<std::size_t> before = mark_.point;
    std::getline(in_, line_);
    const std::optional<RowMark> mark = read_mark(format_, line_);
    if (!mark || (mark->point && (!shard_.has(*mark->point) || (before && *before >= *mark->point))))
      fail("found " + in_quotes(line_) + ", expected a row of shard " + text(shard_));
    if (mark->sweep != sweep_)
      fail("found a row of the sweep " + mark->sweep + " beside the sweep " + sweep_ + ", expected one");
    mark_ = *mark;
  }

  [[noreturn]] void fail(const std::string& what) const { throw InputError(language::shown_path(path_), what); }

 private:
  /// The last line says which shard of which sweep it is.
  void find_end() {
    std::string line, last;
    bool whole = false;
    bool first = true;
    while (std::getline(in_, line)) {
      if (std::exchange(first, false) && line.starts_with('{')) format_ = Format::jsonl;
      whole = !in_.eof();
      last = line;
    }
    const std::optional<RowMark> end = whole ? read_mark(format_, last) : std::nullopt;
    if (end && end->point)
      fail(
          "found no end behind the rows, expected a shard whose sweep has ended: start it again with the same "
          "--output");
    if (!end)
      fail("found no rows of a sweep, or a last one that broke off, expected what sweep --shard I/N --output wrote");
    shard_ = *end->end;
    sweep_ = end->sweep;
  }

  const std::string path_;
  std::ifstream in_;
  Format format_ = Format::csv;
  std::string header_, sweep_, line_;
  Shard shard_;
  RowMark mark_;  ///< of the line
};

std::string in_words(Format format) { return format == Format::jsonl ? "JSON lines" : "CSV"; }

/// Each shard once, and all of them.
void check_complete(const std::vector<ShardFile>& shards) {
  const ShardFile& first = shards.front();
  std::vector<const ShardFile*> by_number(first.shard().of);
  for (const ShardFile& shard : shards) {
    if (shard.format() != first.format())
      shard.fail("found rows as " + in_words(shard.format()) + ", expected " + in_words(first.format()) +
                 ", as those of " + first.path() + " are");
    if (shard.sweep() != first.sweep() || shard.header() != first.header() || shard.shard().of != first.shard().of)
      shard.fail("found shard " + text(shard.shard()) + " of the sweep " + shard.sweep() + ", expected one of " +
                 std::to_string(first.shard().of) + " shards of the sweep " + first.sweep() + ", as " + first.path() +
                 " is");
    const ShardFile*& place = by_number[shard.shard().number - 1];
    if (place != nullptr)
      shard.fail("found shard " + text(shard.shard()) + ", which " + place->path() + " is too, expected it once");
    place = &shard;
  }
  for (std::size_t i = 0; i < by_number.size(); ++i)
    if (by_number[i] == nullptr)
      throw InputError("stepcast merge",
                       "found no shard " + text({i + 1, by_number.size()}) + ", expected all of them");
}

}  // namespace

std::string merged(const std::vector<std::string>& files) {
  std::vector<ShardFile> shards;
  shards.reserve(files.size());
  for (const std::string& file : files) shards.emplace_back(file);
  check_complete(shards);
  const auto later = [](const ShardFile* a, const ShardFile* b) { return a->point() > b->point(); };
  std::priority_queue<ShardFile*, std::vector<ShardFile*>, decltype(later)> next(later);
  for (ShardFile& shard : shards)
    if (!shard.done()) next.push(&shard);
  std::string out = shards.front().header().empty() ? "" : shards.front().header() + "\n";
  while (!next.empty()) {
    ShardFile* const shard = next.top();
    next.pop();
    out += shard->line() + "\n";
    shard->next();
    if (!shard->done()) next.push(shard);
  }
  return out;
}

}  // namespace stepcast::app
