#include "models/layers/context_steps.h"

#include "models/layers/as_double.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

/// Bytes that kernels besides attention move for an element, of `narrow` bytes where it is not in fp32. In half of the
/// steps but the first a rank's early queries, or the keys' late part, have nothing to do: then half of the elements
/// are joined, and a copy puts the halves back together.
struct JoinBytes {
  bool fused;  ///< Inductor makes one kernel of each chain
  double narrow;

  double cast() const { return narrow + kFp32; }
  double join() const { return split(fused ? 2 * kFp32 + narrow : cast() + 8 * kFp32); }
  double sum() const { return split(2 * kFp32 + narrow); }
  double pack(double element) const { return fused ? 0 : 2 * element; }  ///< keys and values into one buffer

 private:
  double split(double whole) const {
    const double half = fused ? 2 * kFp32 + narrow / 2 : whole / 2 + 2 * kFp32;
    return (whole + half) / 2;
  }
};

JoinBytes join_bytes(const PassWriter& w) {
  return {w.s.software.elementwise_by == KernelMaker::inductor, d(w.z.element)};
}

bool gathers(const PassWriter& w) { return w.s.parallelism.context_method == ContextMethod::all_gather; }

double keys_values(const PassWriter& w) { return attended_keys_values(w.s, w.z); }

/// What a step sends while it attends: once all ranks' keys and values, or each step those that it has to the next
/// rank; and in backward, from the second step on, the sum of their gradients so far.
void send_beside(PassWriter& w, std::int64_t step, bool gradients) {
  const double kv = keys_values(w), all = d(w.z.context);
  if (gathers(w)) {
    if (step == 0) w.exchange(Among::context, Operation::all_gather, kv * d(w.z.element) * all, true);
    if (gradients && step > 0) w.exchange(Among::context_ring, Operation::send_recv, kv * kFp32, true);
    return;
  }
  const double bytes = (step + 1 < w.z.context ? d(w.z.element) : 0) + (gradients && step > 0 ? kFp32 : 0);
  if (bytes > 0) w.exchange(Among::context_ring, Operation::send_recv, kv * bytes, true);
}

}  // namespace

double attended_keys_values(const Scenario& s, const StackSizes& z) {
  const bool copies = s.software.repeated_keys_values && s.model.latent.kv_rank == 0;
  return d(z.tokens) * d(copies ? z.heads * (z.key_width + z.value_width) : z.keys_values);
}

bool goes_in_context_steps(const Scenario& s) {
  return s.software.context_in_steps && s.parallelism.context_method != ContextMethod::ulysses;
}

void context_steps_forward(PassWriter& w, double flops) {
  const JoinBytes each = join_bytes(w);
  const double results = d(w.z.tokens) * d(w.z.attention_out);
  for (std::int64_t step = 0; step < w.z.context; ++step) {
    if (step == 0 || !gathers(w))
      if (const double packed = each.pack(keys_values(w) * d(w.z.element)); packed > 0 && step + 1 < w.z.context)
        w.touch(packed);
    send_beside(w, step, false);
    w.fused_attention(flops / d(w.z.context));
    w.touch(results * (step == 0 ? each.cast() : each.join()));
  }
  w.touch(results * each.cast());
}

void context_steps_backward(PassWriter& w, double flops) {
  const JoinBytes each = join_bytes(w);
  const double queries = d(w.z.tokens) * d(w.z.queries), kv = keys_values(w);
  w.touch((queries + kv) * kFp32);  // sums that begin with zeros
  for (std::int64_t step = 0; step < w.z.context; ++step) {
    send_beside(w, step, true);
    w.fused_attention(flops / d(w.z.context));
    w.touch((queries + kv) * each.sum());
    if (const double packed = each.pack(kv * kFp32); packed > 0) w.touch(packed);
  }
  w.exchange(Among::context_ring, Operation::send_recv, kv * kFp32);  // to the rank that the last ones belong to
  w.touch((queries + kv) * each.cast());
}

}  // namespace stepcast::schedules
