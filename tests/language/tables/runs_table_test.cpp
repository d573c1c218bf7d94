#include "language/tables/runs_table.h"

#include <gtest/gtest.h>

#include "language/scenario.h"

namespace stepcast::language {
namespace {

bool is_runs(std::string_view content) { return is_runs_table(content, "table.csv", scenario_schema()); }

TEST(RunsTable, IsKnownByAColumnThatIsTheKeyOfARun) {
  EXPECT_TRUE(is_runs("name,cluster.node,model\nr,dgx-h100,llama2-7b\n"));
  EXPECT_TRUE(is_runs("\xef\xbb\xbf\"measured.step_time\"\n1 s\n")) << "quoted, behind a byte order mark";
  EXPECT_TRUE(is_runs("\n\nname,parallelism.tensor\n")) << "below empty lines";
  EXPECT_FALSE(is_runs("m,n,k,layout,output_bytes,efficiency\n1,1,1,NN,2,0.5\n"));
  EXPECT_FALSE(is_runs("# as in measured.step_time\nm,n,k\n")) << "a word of a comment is no column";
  EXPECT_FALSE(is_runs("name,model\n"));
}

}  // namespace
}  // namespace stepcast::language
