#include "calibrate/logs/nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using testing::HasSubstr;

/// The columns that matter of an export; Nsight Systems has more.
const std::string kTables =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER NOT "
    "NULL, streamId INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);"
    "INSERT INTO StringIds VALUES (4, 'ampere_bf16_s16816gemm_bf16_128x256'), (7, 'ncclDevKernel_AllReduce_Sum');";
const std::string kKernels =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000500, 1200500, 0, 7, 4, 4), (1100000, 1300000, 0, 9, 7, 7);";
const std::string kCopies =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER NOT "
    "NULL, bytes INTEGER, copyKind INTEGER NOT NULL);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000000, 1000250, 1, 4096, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER NOT "
    "NULL);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (1000300, 1000400, 1);";

class Nsys : public testing::Test {
 protected:
  Nsys() { std::filesystem::remove(path_); }
  ~Nsys() override { std::filesystem::remove(path_); }

  /// The database that these statements make.
  std::string database(const std::string& sql) {
    std::filesystem::remove(path_);
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    return path_.string();
  }
  std::string complaint(const std::string& sql) {
    try {
      read_nsys(database(sql));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("stepcast-nsys-" + std::to_string(getpid()) + ".sqlite");
};

TEST_F(Nsys, ReadsKernelsCopiesAndFills) {
  const std::string file = database(kTables + kKernels + kCopies);
  EXPECT_TRUE(is_sqlite(file));
  const KernelLog log = read_nsys(file);
  const std::vector<KernelSpan>& spans = log.spans;
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(log.names[spans[0].name], "ampere_bf16_s16816gemm_bf16_128x256");
  EXPECT_EQ(spans[0].kind, KernelClass::gemm);
  EXPECT_EQ(spans[0].start, nanoseconds(500));
  EXPECT_EQ(spans[0].duration, microseconds(200));
  EXPECT_EQ(spans[1].kind, KernelClass::collective);
  EXPECT_EQ(log.names[spans[2].name], "memcpy host to device");
  EXPECT_EQ(spans[2].device, 1u);
  EXPECT_EQ(spans[2].start, Time{});
  EXPECT_EQ(log.names[spans[3].name], "memset");

  std::ifstream stream(file, std::ios::binary);
  const std::vector<KernelSpan> again =
      parse_nsys(std::string{std::istreambuf_iterator<char>(stream), {}}, "memory").spans;
  ASSERT_EQ(again.size(), 4u);
  EXPECT_EQ(again[1].start, spans[1].start);
}

TEST_F(Nsys, SaysWhatIsWrong) {
  EXPECT_THAT(complaint("CREATE TABLE t (a);"), HasSubstr("found no kernel in a table CUPTI_ACTIVITY_KIND_KERNEL"));
  EXPECT_THAT(complaint(kTables), HasSubstr("found no kernel in a table"));
  EXPECT_THAT(complaint(kTables + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 50, 0, 7, 4, 4);"),
              HasSubstr("found start 100, end 50, device 0"));
  EXPECT_THAT(complaint(kTables + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', 50, 0, 7, 4, 4);"),
              HasSubstr("start: expected a whole number"));
  EXPECT_THAT(complaint("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
                        "CREATE TABLE StringIds (id INTEGER, value TEXT);"),
              HasSubstr("SQLite: no such column"));
  EXPECT_THAT(complaint("CREATE TABLE s (a); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start;"),
              HasSubstr("found no kernel in a table"));  // what a view does is not run
  EXPECT_THROW(parse_nsys("SQLite format 2", "x"), InputError);
  const std::string file = database(kTables + kKernels);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THROW(read_nsys(file), InputError);
}

TEST_F(Nsys, AnIdHasOneName) {
  EXPECT_THAT(complaint("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
                        "demangledName INTEGER);"
                        "INSERT INTO StringIds VALUES (4, 'a'), (4, 'a');"
                        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1, 0, 4);"),
              HasSubstr("StringIds: found the id 4 a second time"));
}

TEST_F(Nsys, AKernelWithoutANameIsKept) {
  const KernelLog log =
      read_nsys(database(kTables + kKernels + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1, 0, 7, 99, 99);"));
  ASSERT_EQ(log.spans.size(), 3u);
  EXPECT_EQ(log.names[log.spans[2].name], "unnamed");
}

TEST_F(Nsys, ColumnsThatComputeAreNotRun) {
  EXPECT_THAT(complaint("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
                        "demangledName INTEGER AS (length(hex(zeroblob(400000)))));"),
              HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL: found the computed column 'demangledName'"));
}

/// Writes the number `value` of so many bytes at `offset`, as SQLite does.
void put(std::string& bytes, std::size_t offset, std::size_t size, std::size_t value) {
  for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<char>(value >> (8 * (size - 1 - i)) & 0xff);
}

TEST_F(Nsys, RowsThatShareTheirPagesEndEarly) {
  constexpr std::size_t kPage = 512, kCells = 80, kInterior = 5, kLevels = 4;
  const std::string file = database("PRAGMA page_size = 512;" + kTables + kKernels);
  std::ifstream stream(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  constexpr std::size_t kRoot = 3;  // of the kernels: the second table that was made
  // A page above the rows whose 80 children are the same page, four times: 82 million rows in a few kilobytes.
  std::string below = bytes.substr((kRoot - 1) * kPage, kPage);
  for (std::size_t level = 0; level < kLevels; ++level) {
    bytes += below;
    const std::size_t child = bytes.size() / kPage;  // pages count from 1
    below.assign(kPage, '\0');
    put(below, 0, 1, kInterior);
    put(below, 3, 2, kCells);
    put(below, 5, 2, kPage - 5);
    put(below, 8, 4, child);
    for (std::size_t cell = 0; cell < kCells; ++cell) put(below, 12 + 2 * cell, 2, kPage - 5);
    put(below, kPage - 5, 4, child);
    put(below, kPage - 1, 1, 1);
  }
  bytes.replace((kRoot - 1) * kPage, kPage, below);
  put(bytes, 28, 4, bytes.size() / kPage);
  try {
    parse_nsys(bytes, "forged.sqlite");
    ADD_FAILURE() << "read all of it";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "forged.sqlite: found more rows or text than a file of its size has room for");
  }
}

}  // namespace
}  // namespace stepcast::calibrate
