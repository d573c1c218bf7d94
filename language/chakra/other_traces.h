#pragma once

#include "language/chakra/traced_program.h"

namespace stepcast::language {

/// Traces of any tool. Kernels of a rank that run at once share its GPU; work of the host takes its time beside
/// others. The n-th collective of a process group on one rank is the n-th on all others; the n-th message from a rank
/// to another with a tag is the n-th that this one receives: it leaves once its sender has come so far. Memory nodes
/// copy between a GPU and its host.
TracedProgram program_of_others(const CheckedTraces& checked, const Traces& traces);

}  // namespace stepcast::language
