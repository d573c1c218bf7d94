#pragma once

#include <string>
#include <string_view>

#include "language/frameworks/framework.h"
#include "language/frameworks/words.h"

namespace stepcast::language {

/// The command by which PyTorch's launcher starts `program` on the launch's GPUs; of several nodes, on one of them.
std::string torchrun(const Launch& launch, std::string_view program);

/// Says how many GPUs there are, where a launch line has told its nodes and the GPUs of each in figures.
void read_launched_gpus(Words& words);

}  // namespace stepcast::language
