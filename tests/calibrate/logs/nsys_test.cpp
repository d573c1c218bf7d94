#include "calibrate/logs/nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using testing::HasSubstr;

/// The columns that matter of an export; Nsight Systems has more.
constexpr const char* kTables =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER NOT "
    "NULL, streamId INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);"
    "INSERT INTO StringIds VALUES (4, 'ampere_bf16_s16816gemm_bf16_128x256'), (7, 'ncclDevKernel_AllReduce_Sum');";
constexpr const char* kKernels =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000500, 1200500, 0, 7, 4, 4), (1100000, 1300000, 0, 9, 7, 7);";
constexpr const char* kCopies =
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
  const std::string file = database(std::string(kTables) + kKernels + kCopies);
  EXPECT_TRUE(is_sqlite(file));
  const std::vector<KernelSpan> spans = read_nsys(file);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].name, "ampere_bf16_s16816gemm_bf16_128x256");
  EXPECT_EQ(spans[0].kind, KernelClass::gemm);
  EXPECT_EQ(spans[0].start, nanoseconds(500));
  EXPECT_EQ(spans[0].duration, microseconds(200));
  EXPECT_EQ(spans[1].kind, KernelClass::collective);
  EXPECT_EQ(spans[2].name, "memcpy host to device");
  EXPECT_EQ(spans[2].device, 1u);
  EXPECT_EQ(spans[2].start, Time{});
  EXPECT_EQ(spans[3].name, "memset");

  std::ifstream stream(file, std::ios::binary);
  const std::vector<KernelSpan> again = parse_nsys(std::string{std::istreambuf_iterator<char>(stream), {}}, "memory");
  ASSERT_EQ(again.size(), 4u);
  EXPECT_EQ(again[1].start, spans[1].start);
}

TEST_F(Nsys, SaysWhatIsWrong) {
  EXPECT_THAT(complaint("CREATE TABLE t (a);"), HasSubstr("found no kernel in a table CUPTI_ACTIVITY_KIND_KERNEL"));
  EXPECT_THAT(complaint(kTables), HasSubstr("found no kernel in a table"));
  EXPECT_THAT(complaint(std::string(kTables) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 50, 0, 7, 4, 4);"),
              HasSubstr("found start 100, end 50, device 0"));
  EXPECT_THAT(
      complaint(std::string(kTables) + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', 50, 0, 7, 4, 4);"),
      HasSubstr("start: expected a whole number"));
  EXPECT_THAT(complaint("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
                        "CREATE TABLE StringIds (id INTEGER, value TEXT);"),
              HasSubstr("SQLite: no such column"));
  EXPECT_THAT(complaint("CREATE TABLE s (a); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start;"),
              HasSubstr("found no kernel in a table"));  // what a view does is not run
  EXPECT_THROW(parse_nsys("SQLite format 2", "x"), InputError);
  const std::string file = database(std::string(kTables) + kKernels);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THROW(read_nsys(file), InputError);
}

}  // namespace
}  // namespace stepcast::calibrate
