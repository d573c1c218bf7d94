// A config.json, or a folder that holds one, as the model of a scenario.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "language/core/file_text.h"
#include "language/questions.h"
#include "tests/language/frameworks/configurations.h"
#include "tests/language/hugging_face/models.h"

namespace stepcast::language {
namespace {

/// A folder with a model, and a scenario beside it.
class HuggingFaceFiles : public testing::Test {
 protected:
  HuggingFaceFiles()
      : path_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
  }
  ~HuggingFaceFiles() override { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  void write_scenario(const std::string& model, const std::string& training = "") const {
    write("question.yaml", "cluster: {node: dgx-h100, nodes: 1}\nmodel: " + model +
                               "\ntraining: {global_batch: 8, micro_batch: 1, sequence: 128" + training + "}\n");
  }
  /// Told of the scenario: read, or with its error.
  Question read(const std::vector<std::string>& settings = {}) const {
    Library library = configs();
    const std::vector<std::string> paths{(path_ / "question.yaml").string()};
    return read_questions(paths, settings, library).at(0);
  }
  std::string wrong() const {
    std::string what = read().error;
    const std::string prefix = shown_path(path_ / "x").substr(0, shown_path(path_ / "x").size() - 1);
    for (std::size_t at; (at = what.find(prefix)) != std::string::npos;) what.erase(at, prefix.size());
    return what;
  }
  std::filesystem::path path_;
};

TEST_F(HuggingFaceFiles, StandForTheModelByPathFolderAndSetting) {
  write("hub/tiny/config.json", small_llama());
  for (const char* const model : {"hub/tiny/config.json", "hub/tiny", "./hub/tiny/", "{base: hub/tiny, kv_heads: 8}"}) {
    write_scenario(model);
    const schedules::Model read_model = read().scenario.model;
    EXPECT_EQ(read_model.layers, 4) << model;
    EXPECT_EQ(read_model.name, "tiny") << model;
  }
  write_scenario("llama3-8b");
  const std::string folder = (path_ / "hub/tiny").string();
  EXPECT_EQ(read({"model=" + folder}).scenario.model.layers, 4);
  EXPECT_EQ(read({"model=" + folder, "model.layers=2"}).scenario.model.layers, 2);
}

TEST_F(HuggingFaceFiles, OfAModelThatIsNotThereOrBrokenSayWhere) {
  write_scenario("hub/none");
  EXPECT_EQ(wrong().substr(0, 34), "question.yaml:2:8: model: found 'h");
  write("hub/empty/readme.md", "nothing");
  write_scenario("hub/empty");
  EXPECT_EQ(wrong(),
            "question.yaml:2:8: model: found 'hub/empty', which is a folder without a config.json, expected a file");
  write("hub/config.json", "{\"model_type\": \"llama\",\n  \"vocab_size\": }");
  write_scenario("./hub");
  EXPECT_EQ(wrong(), "hub/config.json:2:17: found no JSON: '}' cannot stand here");
  write("hub/config.json", small_llama(",\n  \"fields\": 3"));
  EXPECT_EQ(wrong().substr(0, 60), "hub/config.json:3:3: found the field 'fields', of which it i");
  write("hub/config.json", small_llama());
  write_scenario("{base: ./hub, layers: none}");
  EXPECT_EQ(wrong().substr(0, 39), "question.yaml:2:30: model.layers: found");
}

TEST_F(HuggingFaceFiles, AreToldOfInANote) {
  write("tiny/config.json", small_llama());
  write_scenario("tiny/");
  const Question question = read();
  const auto note = std::ranges::find(question.notes, "model", &schedules::Note::key);
  ASSERT_NE(note, question.notes.end());
  EXPECT_EQ(note->text.find("Hugging Face configuration of model_type llama. Left out"), 0U);
}

TEST_F(HuggingFaceFiles, AreWhatTheTrainersScriptNames) {
  write("tiny/config.json", small_llama());
  const schedules::Scenario s = imported(
      "hf-trainer",
      "torchrun --nproc_per_node 8 train.py --bf16 --block_size 128 --model_name_or_path " + (path_ / "tiny").string(),
      {"cluster.node=dgx-h100"});
  EXPECT_EQ(s.model.layers, 4);
  EXPECT_EQ(s.model.vocab, 1000);
}

TEST_F(HuggingFaceFiles, SayWhatTheWeightsWereTrainedIn) {
  write("tiny/config.json",
        small_llama(R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})"));
  write_scenario("tiny/");
  EXPECT_EQ(read().scenario.training.precision, schedules::Precision::fp8);
  write_scenario("tiny/", ", precision: bf16");
  EXPECT_EQ(read().scenario.training.precision, schedules::Precision::bf16);
  write("tiny/config.json", small_llama(",\n\"quantization_config\": {\"quant_method\": \"mxfp4\"}"));
  write_scenario("tiny/");
  EXPECT_EQ(wrong().substr(0, 103),
            "tiny/config.json:3:41: model.precision: found 'quantization_config.quant_method mxfp4', expected one of");
  write_scenario("{base: tiny/, precision: bf16}");
  EXPECT_EQ(read().scenario.training.precision, schedules::Precision::bf16);
}

}  // namespace
}  // namespace stepcast::language
