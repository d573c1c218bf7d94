#include "calibrate/logs/nsys.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "calibrate/logs/gpu_activity.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr int kLongestText = 1 << 20;
// Of what the file's size is taken times: far more than any export needs, and little enough to end soon.
constexpr std::int64_t kStepsPerByte = 32, kTextPerByte = 2;
constexpr std::int64_t kStepsOfAny = 1'000'000, kTextOfAny = 1 << 20;
constexpr int kStepsAtOnce = 1000;
constexpr const char* kTooMuch = "found more rows or text than a file of its size has room for";
constexpr std::string_view kMagic{"SQLite format 3\0", 16};

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

/// Rows of a query, one after the other.
class Query {
 public:
  Query(sqlite3* database, const std::string& sql, const std::string& file)
      : database_(database), file_(file), statement_(nullptr, sqlite3_finalize) {
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v2(database, sql.c_str(), -1, &made, nullptr);
    statement_.reset(made);
    if (code == SQLITE_INTERRUPT) throw InputError(file_, kTooMuch);
    if (code != SQLITE_OK) fail();
  }
  bool next() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_INTERRUPT) throw InputError(file_, kTooMuch);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return code == SQLITE_ROW;
  }
  bool is_whole(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }
  std::int64_t whole(int column) const {
    if (!is_whole(column))
      throw InputError(file_, std::string(sqlite3_column_name(statement_.get(), column)) + ": expected a whole number");
    return sqlite3_column_int64(statement_.get(), column);
  }
  std::string text(int column) const {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return bytes == nullptr
               ? ""
               : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
  }

 private:
  [[noreturn]] void fail() const {
    if (sqlite3_errcode(database_) == SQLITE_NOMEM) fail_for_memory();
    throw InputError(file_, std::string("SQLite: ") + sqlite3_errmsg(database_));
  }
  /// SQLite says that memory ran out of some broken files too.
  [[noreturn]] void fail_for_memory() const {
    constexpr sqlite3_uint64 kSome = 1 << 20;
    void* const some = sqlite3_malloc64(kSome);
    if (some == nullptr) throw std::bad_alloc();
    sqlite3_free(some);
    throw InputError(file_, "SQLite: the database is malformed");
  }

  sqlite3* database_;
  const std::string& file_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// A plain table: views, virtual tables and generated columns would run what the file says.
bool has_table(sqlite3* database, const std::string& table, const std::string& file) {
  Query query(database, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'", file);
  if (!query.next() || !query.text(0).starts_with("CREATE TABLE")) return false;
  Query computed(database, "SELECT name FROM pragma_table_xinfo('" + table + "') WHERE hidden <> 0", file);
  if (computed.next()) {
    throw InputError(file, table + ": found the computed column " + in_quotes(computed.text(0)) +
                               ", expected columns of an export of Nsight Systems");
  }
  return true;
}

/// The column, or where the table has none of that name a number instead: exports of some years lack some.
std::string column_or(sqlite3* database, const std::string& table, const std::string& column, std::int64_t instead,
                      const std::string& file) {
  Query query(database, "SELECT 1 FROM pragma_table_xinfo('" + table + "') WHERE name = '" + column + "'", file);
  return query.next() ? column : std::to_string(instead);
}

/// Stops statements that take more steps than `left` counts.
void limit_steps(sqlite3* database, std::int64_t& left) {
  const auto spend = [](void* budget) { return (*static_cast<std::int64_t*>(budget) -= kStepsAtOnce) < 0 ? 1 : 0; };
  sqlite3_progress_handler(database, kStepsAtOnce, spend, &left);
}

/// The runs of kernels, named by StringIds; `bytes` is the size of the file.
std::vector<GpuActivity> read_kernels(sqlite3* database, const std::string& file, std::int64_t bytes,
                                      KernelNames& names) {
  std::vector<GpuActivity> rows;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> runs;  // rows by the id of their name
  const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
  Query kernels(database,
                "SELECT start, \"end\", deviceId, demangledName, " + column_or(database, table, "streamId", 0, file) +
                    ", " + column_or(database, table, "correlationId", kNoLaunch, file) + " FROM " + table,
                file);
  while (kernels.next()) {
    if (kernels.is_whole(3)) runs[kernels.whole(3)].push_back(rows.size());
    rows.push_back({names.number_of("unnamed"), class_of(""), kernels.whole(0), kernels.whole(1), kernels.whole(2),
                    kernels.whole(4), kernels.whole(5)});
  }
  std::unordered_set<std::int64_t> named;
  std::int64_t text = kTextOfAny + kTextPerByte * bytes;
  Query strings(database, "SELECT id, value FROM StringIds", file);
  while (strings.next()) {
    const std::string name = strings.text(1);
    text -= std::ssize(name);
    if (text < 0) throw InputError(file, kTooMuch);
    const auto ran = strings.is_whole(0) ? runs.find(strings.whole(0)) : runs.end();
    if (ran == runs.end()) continue;
    if (!named.insert(ran->first).second)
      throw InputError(file, "StringIds: found the id " + std::to_string(ran->first) + " a second time");
    if (name.empty()) continue;
    const std::uint32_t number = names.number_of(name);
    const KernelClass kind = class_of(name);
    for (const std::size_t row : ran->second) {
      rows[row].name = number;
      rows[row].kind = kind;
    }
  }
  return rows;
}

/// When the host called for each, by correlation.
std::unordered_map<std::int64_t, std::int64_t> read_launches(sqlite3* database, const std::string& file) {
  std::unordered_map<std::int64_t, std::int64_t> launches;
  const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
  if (!has_table(database, table, file) || column_or(database, table, "correlationId", kNoLaunch, file) == "-1")
    return launches;
  Query query(database, "SELECT start, correlationId FROM " + table, file);
  while (query.next())
    if (query.is_whole(0) && query.is_whole(1)) launches.emplace(query.whole(1), query.whole(0));
  return launches;
}

KernelLog read(sqlite3* database, const std::string& file, std::int64_t bytes) {
  std::int64_t steps = kStepsOfAny + kStepsPerByte * bytes;
  limit_steps(database, steps);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestText);
  KernelLog log;
  std::vector<GpuActivity> rows;
  if (has_table(database, "CUPTI_ACTIVITY_KIND_KERNEL", file)) {
    if (!has_table(database, "StringIds", file))
      throw InputError(file, "found no table StringIds, which names kernels");
    rows = read_kernels(database, file, bytes, log.names);
  }
  if (rows.empty()) {
    throw InputError(file,
                     "found no kernel in a table CUPTI_ACTIVITY_KIND_KERNEL, expected an export of Nsight Systems "
                     "(nsys export --type sqlite)");
  }
  if (has_table(database, "CUPTI_ACTIVITY_KIND_MEMCPY", file)) {
    Query query(database,
                "SELECT start, \"end\", deviceId, copyKind, " +
                    column_or(database, "CUPTI_ACTIVITY_KIND_MEMCPY", "streamId", 0, file) +
                    " FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                file);
    while (query.next())
      rows.push_back({log.names.number_of(copy_name(query.whole(3))), KernelClass::copy, query.whole(0), query.whole(1),
                      query.whole(2), query.whole(4), kNoLaunch});
  }
  if (has_table(database, "CUPTI_ACTIVITY_KIND_MEMSET", file)) {
    Query query(database, "SELECT start, \"end\", deviceId FROM CUPTI_ACTIVITY_KIND_MEMSET", file);
    while (query.next())
      rows.push_back({log.names.number_of("memset"), KernelClass::copy, query.whole(0), query.whole(1), query.whole(2),
                      0, kNoLaunch});
  }
  add_activities(rows, read_launches(database, file), file, log);
  return log;
}

}  // namespace

KernelLog read_nsys(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const Database database(opened, sqlite3_close);
  if (code != SQLITE_OK) throw InputError(file.string(), std::string("SQLite: ") + sqlite3_errstr(code));
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  return read(database.get(), file.string(), bytes);
}

KernelLog parse_nsys(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kMagic)) throw InputError(file, "found no SQLite database");
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  const Database database(opened, sqlite3_close);
  if (code != SQLITE_OK) throw InputError(file, std::string("SQLite: ") + sqlite3_errstr(code));
  auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(database.get(), "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    throw InputError(file, std::string("SQLite: ") + sqlite3_errmsg(database.get()));
  }
  return read(database.get(), file, size);
}

bool is_sqlite_text(std::string_view bytes) { return bytes.starts_with(kMagic); }

bool is_sqlite(const std::filesystem::path& file) {
  std::string begin(kMagic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

}  // namespace stepcast::calibrate
