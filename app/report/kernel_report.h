#pragma once

#include <string>
#include <utility>
#include <vector>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::app {

/// Classes with their shares, devices with what hides beside what, and the kernels that take longest.
std::string kernels_table(const calibrate::KernelTable& table);
std::string kernels_json(const calibrate::KernelTable& table);
/// All kernels: name,class,count,total_s,median_s.
std::string kernels_csv(const calibrate::KernelTable& table);

/// Facts of a machine: columns, an object, or key,value.
using Facts = std::vector<std::pair<std::string, std::string>>;
std::string facts_table(const Facts& facts);
std::string facts_json(const Facts& facts);
std::string facts_csv(const Facts& facts);

}  // namespace stepcast::app
