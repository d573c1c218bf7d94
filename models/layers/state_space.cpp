#include "models/layers/state_space.h"

#include "models/layers/as_double.h"
#include "models/layers/recurrent_mixer.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

MixerColumns columns_of(const StackSizes& z, const Mamba& m) {
  const std::int64_t ranks = z.grid.columns, inner = m.heads * m.head / ranks;
  const std::int64_t shared = 2 * m.groups * m.state / ranks;
  return {.in = 2 * inner + shared + m.heads / ranks, .shared = shared, .convolved = inner + shared, .inner = inner};
}

/// Kernels of the scan on one rank, by what they multiply and the bytes they move.
class ChunkScan {
 public:
  explicit ChunkScan(const Writer& w)
      : z_(w.z),
        m_(w.s.model.mamba),
        chunk_(std::min(m_.chunk, z_.sequence)),
        chunks_(z_.samples * ((z_.sequence + chunk_ - 1) / chunk_)),
        heads_(m_.heads / (z_.grid.columns * z_.context)),
        groups_(own_groups(z_, m_.groups)) {}

  /// Steps, decays and their sums over a chunk, in fp32.
  void sum_decays(PassWriter& w) const { w.touch(steps() * (d(z_.element) + 2 * kFp32)); }

  /// Each chunk's own state, in fp32, and what it begins with, of `kept` bytes a number.
  void make_states(PassWriter& w, double kept, double useful) const {
    w.run(useful_part(by_head(m_.head, chunk_, m_.state, inputs() + shared() + states() * kFp32), useful));
    w.touch(states() * (kFp32 + kept));
  }

  /// What each token of a chunk adds to what every later one reads.
  void pair_tokens(PassWriter& w, double useful) const {
    w.run(useful_part(by_group(chunk_, m_.state, chunk_, 2 * shared() + pairs()), useful));
  }

  void forward(PassWriter& w) const {
    sum_decays(w);
    make_states(w, d(z_.element), 1);
    pair_tokens(w, 1);
    // From the state that its chunk begins with and from the chunk's tokens before it; times its gate.
    w.run(by_head(chunk_, m_.state + seen(), m_.head, shared() + states() * d(z_.element) + pairs() + 4 * inputs()));
  }

  void backward(PassWriter& w) const {
    const double e = d(z_.element);
    w.touch(5 * inputs());  // gradients of the gate and of what it let through
    sum_decays(w);
    pair_tokens(w, 0);         // again
    make_states(w, kFp32, 0);  // again
    w.run(
        by_head(m_.head, chunk_, m_.state, inputs() + shared() + states() * kFp32, true));  // of what chunks begin with
    w.touch(states() * 2 * (kFp32 + e));                                                    // from the last chunk on
    w.run(by_head(chunk_, m_.state + seen(), m_.head, 3 * inputs() + shared() + states() * e + pairs(), true));
    for (int side = 0; side < 2; ++side)  // of what is added by and read by
      w.run(by_head(chunk_, m_.head, m_.state, inputs() + 2 * shared() + shared_in_fp32() + states() * e, true));
    for (const double useful : {1.0, 0.0})  // of the pairs, and once more of the decays between them
      w.run(useful_part(by_head(chunk_, m_.head, seen(), 2 * inputs() + pairs(), true), useful));
    for (int side = 0; side < 2; ++side)
      w.run(by_group(chunk_, chunk_, m_.state, pairs() + shared() + 2 * shared_in_fp32(), true));
    w.touch(steps() * kSmallTensors * kFp32, kSmallKernels);
  }

  /// Of the scan's own tensors at work on its backward pass.
  double working_bytes() const { return states() * 2 * (kFp32 + d(z_.element)) + 2 * pairs() + 4 * inputs(); }

 private:
  /// Sums, copies and cumulative sums of numbers that each head has one of for each token; as counted in the code.
  static constexpr int kSmallKernels = 14;
  static constexpr double kSmallTensors = 30;
  /// Rows of a tile, of which tiles above the diagonal are left out.
  static constexpr std::int64_t kTile = 64;

  std::int64_t seen() const { return (chunk_ + std::min(chunk_, kTile)) / 2; }
  double tokens() const { return d(z_.samples) * d(z_.sequence); }
  double steps() const { return tokens() * d(heads_); }
  double inputs() const { return steps() * d(m_.head) * d(z_.element); }
  double states() const { return d(chunks_) * d(heads_) * d(m_.head) * d(m_.state); }
  double shared() const { return tokens() * d(groups_) * d(m_.state) * d(z_.element); }
  double shared_in_fp32() const { return shared() / d(z_.element) * kFp32; }
  double pairs() const { return tokens() * d(groups_) * d(chunk_) * kFp32; }

  ChunkProducts products(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, double bytes,
                         bool backward) const {
    return {.by = ScanKernels::mamba,
            .flops = GemmShape{.m = m, .n = n, .k = k, .batch = batch}.flops(),
            .bytes = bytes,
            .backward = backward};
  }
  static ChunkProducts useful_part(ChunkProducts products, double share) {
    products.useful = share;
    return products;
  }
  /// One of each chunk and head, or of each chunk and group of heads.
  ChunkProducts by_head(std::int64_t m, std::int64_t k, std::int64_t n, double bytes, bool backward = false) const {
    return products(m, k, n, chunks_ * heads_, bytes, backward);
  }
  ChunkProducts by_group(std::int64_t m, std::int64_t k, std::int64_t n, double bytes, bool backward = false) const {
    return products(m, k, n, chunks_ * groups_, bytes, backward);
  }

  const StackSizes& z_;
  const Mamba& m_;
  const std::int64_t chunk_, chunks_, heads_, groups_;
};

}  // namespace

void state_space(Writer& w) {
  const StackSizes& z = w.z;
  const Mamba& m = w.s.model.mamba;
  const MixerColumns columns = columns_of(z, m);
  enter_mixer(w, columns, m.groups / z.grid.columns, m.convolution, true);

  const ChunkScan scan(w);
  w.begin(Kind::chunk_scan);
  w.owns(3 * d(m.heads) / d(z.grid.columns));  // of each head: its decay, its step's offset, what goes past the state
  scan.forward(w.forward);
  scan.backward(w.backward);
  w.saves(d(z.tokens) * d(columns.inner) * d(z.element));  // its result before the gate
  w.holds_gradients(scan.working_bytes() + d(z.tokens) * d(columns.in) * d(z.element));

  leave_mixer(w, columns, d(columns.inner));
}

}  // namespace stepcast::schedules
