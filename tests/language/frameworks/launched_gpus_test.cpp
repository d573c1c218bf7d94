#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;

const std::string kShort =
    "pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 64 --bf16 --vocab-size 32000";

std::uint32_t gpus_of(const std::string& script, const std::vector<std::string>& settings = {}) {
  return imported("megatron", script, settings).cluster.gpus;
}

// One node is a guess that nobody makes knowingly.
TEST(LaunchedGpus, OfAVariableThatNothingSetsAreAskedFor) {
  for (const std::string launcher : {"torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 ",
                                     "torchrun --nnodes 4 --nproc_per_node $(nvidia-smi -L | wc -l) "}) {
    EXPECT_THAT(complaint([&] { gpus_of(launcher + kShort); }), HasSubstr("expected a number, or --set cluster.gpus=N"))
        << launcher;
    EXPECT_EQ(gpus_of(launcher + kShort, {"cluster.node=dgx-h100", "cluster.gpus=32"}), 32U) << launcher;
    EXPECT_EQ(gpus_of(launcher + kShort, {"cluster.node=dgx-h100", "cluster.nodes=2"}), 16U) << launcher;
  }
}

TEST(LaunchedGpus, AreThoseThatSlurmIsAskedFor) {
  const std::string asked = "#!/bin/bash\n#SBATCH --job-name=x --nodes 9\n#SBATCH --nodes=4   # of 8\n";
  EXPECT_EQ(gpus_of(asked + "#SBATCH --gpus-per-node=h100:8\nsrun python " + kShort), 32U);
  EXPECT_EQ(gpus_of(asked + "#SBATCH --gres=gpu:h100:8\nsrun python " + kShort), 32U);
  EXPECT_EQ(gpus_of(asked + "#SBATCH --ntasks-per-node=8\nsrun python " + kShort), 32U);
  EXPECT_EQ(gpus_of(asked +
                    "#SBATCH --gpus-per-node=8\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node "
                    "$SLURM_GPUS_PER_NODE " +
                    kShort),
            32U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH -J x -N 4 --gres=gpu:8\nsrun python " + kShort), 32U);
  // What starts the ranks knows better.
  EXPECT_EQ(gpus_of(asked + "#SBATCH --gpus-per-node=8\nsrun torchrun --nnodes 2 --nproc_per_node 4 " + kShort), 8U);
  EXPECT_EQ(gpus_of("srun -N 2 --ntasks-per-node=8 python " + kShort), 16U);
  EXPECT_EQ(gpus_of("mpirun -N 8 -np 32 python " + kShort), 32U) << "its -N says ranks of a node";
  EXPECT_EQ(gpus_of("srun --nodes=2 --ntasks-per-node=1 torchrun --nproc_per_node 8 " + kShort), 16U);
  EXPECT_EQ(gpus_of("srun -N2 -n16 python " + kShort), 16U);
  EXPECT_EQ(gpus_of("srun --nodes=1 --ntasks=1 -w host torchrun --nnodes 4 --nproc_per_node 8 " + kShort), 32U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH -N2 --gres=gpu:h100:8\nsrun python " + kShort), 16U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH --nodes=\"2\" --ntasks=16\nsrun python " + kShort), 16U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH --gpus=32 --gres=nvme:1\nsrun python " + kShort), 32U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH --nodes=4\nsrun python " + kShort), 32U) << "the node's own GPUs";
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=8\nW=${SLURM_NTASKS:-8}\ntorchrun --nnodes "
                    "$((W/8)) --nproc_per_node 8 " +
                    kShort),
            16U);
}

TEST(LaunchedGpus, AreNotThoseOfLinesThatSlurmDoesNotRead) {
  EXPECT_EQ(gpus_of("#!/bin/bash\nset -e\n#SBATCH --nodes=32\nsrun -N 2 python " + kShort), 16U);
  EXPECT_EQ(gpus_of("#!/bin/bash\n#SBATCHX --nodes=9\n##SBATCH --nodes=7\nsrun -N 2 python " + kShort), 16U);
  for (const std::string range : {"2-4", "<NODES>", "1k"}) {
    std::string script = "#!/bin/bash\n#SBATCH --nodes=";
    script.append(range).append("\nsrun python ").append(kShort);
    EXPECT_THAT(complaint([&] { gpus_of(script); }),
                HasSubstr("found '" + range + "', expected a number, or --set cluster.gpus=N"));
  }
  EXPECT_THAT(complaint([&] { gpus_of("torchrun --nnodes=1:4 --nproc_per_node 8 " + kShort); }),
              HasSubstr("expected a number, or --set cluster.gpus=N"));
}

TEST(LaunchedGpus, ThatNothingSaysAreNamedSo) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const auto written = [&](const std::string& script) {
    return scenario_of_configuration(framework_named("megatron", ""), script, "given", settings, library).text;
  };
  EXPECT_THAT(written("python " + kShort), HasSubstr("# How many GPUs start it is not said"));
  EXPECT_THAT(written("torchrun --nnodes 2 --nproc_per_node 8 " + kShort),
              testing::Not(HasSubstr("# How many GPUs start it is not said")));
}

// accelerate says all processes and how many machines, torchrun those of a node.
TEST(LaunchedGpus, ShareOutAHybridsShardsInsideANode) {
  const std::string arguments =
      " train.py --model_name_or_path gpt2 --bf16 True --per_device_train_batch_size 1 --block_size 1024";
  const auto group = [&](const std::string& launcher, const std::vector<std::string>& settings = {}) {
    return imported("hf-trainer", launcher + arguments, settings).data_parallel.shard_group.value_or(0);
  };
  const std::string hybrid = "accelerate launch --use_fsdp --fsdp_sharding_strategy HYBRID_SHARD ";
  EXPECT_EQ(group(hybrid + "--num_machines 2 --num_processes 16"), 8U);
  EXPECT_EQ(group(hybrid + "--num_machines 1 --num_processes 8"), 0U);
  const std::string zero_2 = "accelerate launch --use_fsdp --fsdp_sharding_strategy HYBRID_SHARD_ZERO2 ";
  const schedules::Scenario halved = imported("hf-trainer", zero_2 + "--num_machines 2 --num_processes 16" + arguments);
  EXPECT_EQ(halved.data_parallel.shard_group, 8U);
  EXPECT_EQ(halved.data_parallel.zero, 2U);
  EXPECT_EQ(
      group("accelerate launch --use_fsdp --fsdp_sharding_strategy FULL_SHARD --num_machines 2 --num_processes 16"),
      0U);
  const std::vector<std::string> sized{"cluster.node=dgx-h100", "cluster.gpus=32"};
  EXPECT_THAT(complaint([&] { group(hybrid, sized); }), HasSubstr("--set data_parallel.shard_group=N"));
  EXPECT_EQ(group(hybrid, {sized[0], sized[1], "data_parallel.shard_group=8"}), 8U);
}

}  // namespace
}  // namespace stepcast::language
