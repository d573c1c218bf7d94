#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calibrate/measure/host/step_case.h"

namespace stepcast::measure {

/// The whole tensors of a model, by their names (host/step_parameters.h).
using WholeParameters = std::map<std::string, std::vector<double>>;

/// The model's mean loss over all micro-batches of all data ranks, in double and on one core: dropout as step `index`
/// (from 0) draws it. Written from the papers, not from the kernels: GPT-2 (Radford et al. 2019), layer norm (Ba et al.
/// 2016), GELU's tanh form (Hendrycks and Gimpel 2016). Requires tensor = 1 names, as step_parameters() gives for one
/// GPU.
double reference_loss(const StepCase& step, const WholeParameters& parameters, float dropout, std::int64_t index);

}  // namespace stepcast::measure
