#include "language/chakra/program_of.h"

#include <algorithm>

#include "language/chakra/other_traces.h"
#include "language/chakra/own_traces.h"
#include "sim/input_error.h"

namespace stepcast::language {

TracedProgram program_of(const Traces& traces) {
  const CheckedTraces checked(traces);
  return traces.details ? program_of_own(checked, *traces.details, traces.details_file)
                        : program_of_others(checked, traces);
}

void throw_circle(const Traces& traces, const TracedProgram& program, std::span<const sim::TaskId> circle) {
  constexpr std::size_t kNamed = 4;
  const CheckedTraces checked(traces);
  std::string others;
  for (std::size_t i = 1; i < std::min(circle.size(), kNamed); ++i)
    others += checked.place(program.tasks[sim::index(circle[i])].front()) + ", which waits for ";
  if (circle.size() > kNamed) others += std::to_string(circle.size() - kNamed) + " more, which wait for ";
  throw InputError(checked.place(program.tasks[sim::index(circle.front())].front()) + ": dependencies",
                   "waits for " + others + "it; expected dependencies without a circle");
}

}  // namespace stepcast::language
