#include "language/plan_keys.h"

namespace stepcast::language {

bool is_said(const Node& tree, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Node* node = tree.find(path.substr(0, dot));
  if (node == nullptr || node->kind == Node::Kind::nothing) return false;
  return dot == std::string_view::npos || is_said(*node, path.substr(dot + 1));
}

SaidPlanKeys said_plan_keys(const Node& tree) {
  SaidPlanKeys said;
  for (std::size_t i = 0; i < kPlanKeys.size(); ++i) said[i] = is_said(tree, kPlanKeys[i]);
  return said;
}

}  // namespace stepcast::language
