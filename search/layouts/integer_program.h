#pragma once

#include <optional>

#include "search/layouts/graph.h"
#include "search/layouts/zero_one_program.h"

namespace stepcast::search {

/// The choices of least time among those within the limit of bytes; none: no choices are. Of several such, none can be
/// bettered by moving one operator to an earlier choice.
///
/// An integer program (Zheng et al. 2022, "Alpa", arXiv 2201.12023, eq. 1 and its linearisation): a variable for each
/// choice of an operator, of which one is 1, and one for each pair of choices at a conversion, whose sums over one end
/// are the other end's variables. Before that, what provably changes nothing: choices that another one betters in
/// everything are left out, conversions at an operator with one choice left belong to the other end, and choices that
/// all convert alike share the variables of their pairs.
/// Throws std::runtime_error where the solver fails.
std::optional<ChosenLayouts> best_layouts(const LayoutGraph& graph, ProgramSolver solver);

/// The bytes of the choices that take the fewest, by an integer program.
Bytes least_bytes(const LayoutGraph& graph, ProgramSolver solver);

}  // namespace stepcast::search
