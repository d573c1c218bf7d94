#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/fabric.h"

namespace stepcast::topology {

/// What a tree of switches is made of, leaves first. An extended generalised fat tree, XGFT(h; down; up).
struct ClosShape {
  std::vector<std::uint32_t> down;  ///< [level]: children of a switch; end points at the leaves
  std::vector<std::uint32_t> up;    ///< [level]: parents of a switch; none at the top
  std::uint32_t planes = 1;         ///< trees that never meet
};

/// The tree that `spec` asks for over `ends` NICs: `levels` of them, or as few as reach all. At the leaf down over up
/// is the oversubscription; above, half of the ports go up, and at the top all go down. Throws InputError where the
/// radix is too small.
ClosShape clos_shape(const FabricSpec& spec, std::uint32_t ends, std::uint32_t planes);

/// Folded Clos networks of any number of levels. With planes, NIC k of every node is on plane k; without, the NICs of a
/// node stand side by side on the leaves. Adaptive and sprayed routing is one wide switch in the place of all parents
/// that share; hashed routing picks every parent on the way up by the flow, and there is one way down.
class Clos final : public Fabric {
 public:
  Clos(const FabricRequest& request, ClosShape shape);
  Device device(std::uint32_t switch_index) const override;
  std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const override;
  bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const override;
  /// Every top switch is the root of a tree of the same shape, so all of them are one tree of wider links: what meets
  /// at each of its switches (Leiserson, Fat-Trees, IEEE Trans. Computers C-34(10), 1985, for trees whose links are
  /// channels of any capacity). Hashed and adaptive routing have the same links.
  Bandwidth bisection(const Halves& halves) const override;

 private:
  std::uint32_t levels() const { return static_cast<std::uint32_t>(shape_.down.size()); }
  /// Of the link from a switch of a level to its parent number `parent`; the way down is the next one.
  std::uint32_t link(std::uint32_t plane, std::uint32_t level, std::uint32_t place, std::uint32_t parent) const;

  ClosShape shape_;
  std::uint32_t nics_ = 1;
  Bandwidth port_{};
  std::vector<double> above_;                ///< [level]: links' worth of traffic that leads up from one subtree
  std::vector<std::uint32_t> trees_;         ///< [level]: subtrees that end there
  std::vector<std::uint32_t> copies_;        ///< [level]: switches at the top of one such subtree
  std::vector<std::uint32_t> first_switch_;  ///< [level], of one plane; then their number
  std::vector<std::uint32_t> first_link_;    ///< likewise
};

}  // namespace stepcast::topology
