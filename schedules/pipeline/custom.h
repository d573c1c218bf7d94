#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// The name under which users give their own orders.
inline constexpr std::string_view kCustom = "custom";

/// What a user's orders say.
struct CustomOrders {
  std::vector<StageOrder> stages;
  bool splits_backward = false;  ///< some backward leaves its weights' gradients to a pass of their own
  std::string problem;           ///< the first word that is none, in the user's terms; "": all are passes
};

/// Reads one line per stage, as diagrams show it: F3 is forward of micro-batch 3, B3 backward, W3 its gradients of
/// weights, BW3 backward with them where others leave them; a letter after the number is the virtual stage (a is 0);
/// F4&B1 run together. Whether the passes make an order is validate()'s to say.
CustomOrders read_orders(std::span<const std::string> stages);

}  // namespace stepcast::schedules
