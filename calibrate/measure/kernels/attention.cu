#include "calibrate/measure/kernels/attention.h"

#include <mma.h>

#include <algorithm>
#include <cmath>

#include "calibrate/measure/kernels/block.h"
#include "calibrate/measure/kernels/dynamic_shared.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kPad = 8;  // elements at the end of each row in shared memory: rows start in different banks

template <class T>
using LeftRows = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major>;
template <class T>
using LeftColumns = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::col_major>;
template <class T>
using RightRows = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major>;
template <class T>
using RightColumns = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

/// This GPU generation multiplies T on its tensor cores.
template <class T>
__host__ __device__ constexpr bool multiplies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return sizeof(T) == 2 && !std::is_same_v<T, bf16>;
#else
  return true;
#endif
}

/// Rows [first, first + Rows) of a head into shared memory, zeros past `rows`. All threads of the block.
template <class T, int Rows, int Head>
__device__ void load_tile(const T* from, std::int64_t row_stride, int first, int rows, T* to) {
  constexpr int kPacks = Head / kPack<T>;
  for (int i = static_cast<int>(threadIdx.x); i < Rows * kPacks; i += kThreads) {
    const int row = i / kPacks, column = i % kPacks * kPack<T>;
    uint4 raw{0, 0, 0, 0};
    if (first + row < rows) raw = *reinterpret_cast<const uint4*>(from + (first + row) * row_stride + column);
    *reinterpret_cast<uint4*>(to + row * (Head + kPad) + column) = raw;
  }
}

/// Where a head's vectors begin: of grid row y, which counts heads of all sequences.
template <class T>
__device__ __forceinline__ T* head_of(T* x, const AttentionStrides& strides, const AttentionCall& a) {
  return x + blockIdx.y / a.heads * strides.sequence + blockIdx.y % a.heads * strides.head;
}

/// sums += A B^T: 16 rows of each in shared memory, of head vectors.
template <class T, int Head>
__device__ __forceinline__ void add_products(Sums& sums, const T* a, const T* b) {
  constexpr int kRow = Head + kPad;
#pragma unroll
  for (int d = 0; d < Head; d += 16) {
    LeftRows<T> left;
    RightColumns<T> right;
    wmma::load_matrix_sync(left, a + d, kRow);
    wmma::load_matrix_sync(right, b + d, kRow);
    wmma::mma_sync(sums, left, right, sums);
  }
}

/// sums += W X: W 16 rows of weights of `Keys` keys, X 16 columns of as many head vectors, both in shared memory.
template <class T, int Head, int Keys>
__device__ __forceinline__ void add_weighted(Sums& sums, const T* weights, const T* x) {
#pragma unroll
  for (int c = 0; c < Keys; c += 16) {
    LeftRows<T> left;
    RightRows<T> right;
    wmma::load_matrix_sync(left, weights + c, Keys + kPad);
    wmma::load_matrix_sync(right, x + c * (Head + kPad), Head + kPad);
    wmma::mma_sync(sums, left, right, sums);
  }
}

template <class T, int Head>
struct ForwardTile {
  static constexpr int kQueries = 16 * kWarps, kKeys = Head == 64 ? 64 : 32;
  static constexpr int kRow = Head + kPad, kScoreRow = kKeys + kPad;
  T q[kQueries * kRow], k[kKeys * kRow], v[kKeys * kRow], p[kQueries * kScoreRow];
  float s[kQueries * kScoreRow], o[kQueries * kRow];
};

/// A warp's 16 queries with all keys of the tile.
template <class T, int Head>
__device__ __forceinline__ void score_keys(ForwardTile<T, Head>& tile, int warp) {
  using Tile = ForwardTile<T, Head>;
  float* const own = tile.s + 16 * warp * Tile::kScoreRow;
  for (int c = 0; c < Tile::kKeys; c += 16) {
    Sums scores;
    wmma::fill_fragment(scores, 0.0f);
    add_products<T, Head>(scores, tile.q + 16 * warp * Tile::kRow, tile.k + c * Tile::kRow);
    wmma::store_matrix_sync(own + c, scores, Tile::kScoreRow, wmma::mem_row_major);
  }
}

/// Half a row of scores, the other half of which the neighbouring thread has, becomes weights of its keys. `most`: the
/// highest score so far; `sum`: of the weights so far, which shrink with what is summed up of the values where a score
/// is higher.
template <class T, int Head>
__device__ __forceinline__ void weigh_keys(ForwardTile<T, Head>& tile, const AttentionCall& a, int row, int query,
                                           int key, float& most, float& sum) {
  using Tile = ForwardTile<T, Head>;
  const int half = static_cast<int>(threadIdx.x) % 2;
  const float scale = rsqrtf(static_cast<float>(Head));
  constexpr int kHalf = Tile::kKeys / 2;
  const int start = half * kHalf;
  float* const score = tile.s + row * Tile::kScoreRow + start;
  float high = most;
  for (int c = 0; c < kHalf; ++c) {
    const int at = key + start + c;
    const bool seen = at < a.keys && (!a.causal || at <= query);
    score[c] = seen ? score[c] * scale : -INFINITY;
    high = fmaxf(high, score[c]);
  }
  high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
  const float base = high == -INFINITY ? 0.0f : high;  // no key seen yet
  const float shrink = __expf(most - base);            // of what was summed so far; 0 at first
  most = high;
  float part = 0.0f;
  T* const p = tile.p + row * Tile::kScoreRow + start;
  for (int c = 0; c < kHalf; ++c) {
    const float weight = __expf(score[c] - base);
    part += weight;
    p[c] = from_float<T>(weight);
  }
  part += __shfl_xor_sync(0xffffffffu, part, 1);
  sum = sum * shrink + part;
  float* const out = tile.o + row * Tile::kRow + half * (Head / 2);
  for (int d = 0; d < Head / 2; ++d) out[d] *= shrink;
}

/// The values of the tile's keys by a warp's weights, to what its 16 queries have so far.
template <class T, int Head>
__device__ __forceinline__ void add_values(ForwardTile<T, Head>& tile, int warp) {
  using Tile = ForwardTile<T, Head>;
  float* const own = tile.o + 16 * warp * Tile::kRow;
  for (int d = 0; d < Head; d += 16) {
    Sums out_part;
    wmma::load_matrix_sync(out_part, own + d, Tile::kRow, wmma::mem_row_major);
    add_weighted<T, Head, Tile::kKeys>(out_part, tile.p + 16 * warp * Tile::kScoreRow, tile.v + d);
    wmma::store_matrix_sync(own + d, out_part, Tile::kRow, wmma::mem_row_major);
  }
}

/// One block: 64 queries of one head. Each warp keeps 16 of them; two threads share a row of scores.
template <class T, int Head>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(AttentionCall a, const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                   T* __restrict__ o, float* __restrict__ log_sum) {
  if constexpr (multiplies<T>()) {
    using Tile = ForwardTile<T, Head>;
    Tile& tile = *reinterpret_cast<Tile*>(dynamic_shared());
    q = head_of(q, a.q, a);
    k = head_of(k, a.k, a);
    v = head_of(v, a.v, a);
    o = head_of(o, a.o, a);
    // Later queries have more keys under a causal mask: they start first.
    const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * Tile::kQueries;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = 16 * warp + lane / 2, query = first + row;
    float* const my_o = tile.o + 16 * warp * Tile::kRow;

    load_tile<T, Tile::kQueries, Head>(q, a.q.row, first, a.queries, tile.q);
    for (int i = lane; i < 16 * Tile::kRow; i += 32) my_o[i] = 0.0f;
    float most = -INFINITY, sum = 0.0f;
    const int last_key = a.causal ? min(a.keys, first + Tile::kQueries) : a.keys;
    for (int key = 0; key < last_key; key += Tile::kKeys) {
      __syncthreads();
      load_tile<T, Tile::kKeys, Head>(k, a.k.row, key, a.keys, tile.k);
      load_tile<T, Tile::kKeys, Head>(v, a.v.row, key, a.keys, tile.v);
      __syncthreads();
      score_keys<T, Head>(tile, warp);
      __syncwarp();

      weigh_keys<T, Head>(tile, a, row, query, key, most, sum);
      __syncwarp();

      add_values<T, Head>(tile, warp);
      __syncwarp();
    }

    if (query < a.queries) {
      const float share = 1.0f / sum;
      const int start = lane % 2 * (Head / 2);
      const float* const from = tile.o + row * Tile::kRow + start;
      T* const to = o + query * a.o.row + start;
      for (int d = 0; d < Head / 2; d += kPack<T>) {
        float pack[kPack<T>];
#pragma unroll
        for (int i = 0; i < kPack<T>; ++i) pack[i] = from[d + i] * share;
        store_pack(to + d, pack);
      }
      if (lane % 2 == 0) log_sum[static_cast<std::int64_t>(blockIdx.y) * a.queries + query] = most + logf(sum);
    }
  }
}

/// delta = sum of o and its gradient over each head vector: one warp a row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    delta_kernel(AttentionCall a, const T* __restrict__ o, const T* __restrict__ d_o, float* __restrict__ delta) {
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (row >= a.queries) return;
  o = head_of(o, a.o, a) + row * a.o.row;
  d_o = head_of(d_o, a.o, a) + row * a.o.row;
  float sum = 0.0f;
  for (int d = static_cast<int>(threadIdx.x) % 32; d < a.head; d += 32) sum += to_float(o[d]) * to_float(d_o[d]);
  sum = across_warp<JoinBySum>(sum);
  if (threadIdx.x % 32 == 0) delta[static_cast<std::int64_t>(blockIdx.y) * a.queries + row] = sum;
}

template <class T, int Head>
struct BackwardTile {
  static constexpr int kQueries = 32, kKeys = 16 * kWarps;
  static constexpr int kRow = Head + kPad, kScoreRow = kKeys + kPad;
  T q[kQueries * kRow], d_o[kQueries * kRow], k[kKeys * kRow], v[kKeys * kRow];
  T p[kQueries * kScoreRow], ds[kQueries * kScoreRow];
  union {  // scores are used up before the gradient of the queries is made
    struct {
      float s[kQueries * kScoreRow], dp[kQueries * kScoreRow];
    };
    float dq[kQueries * kRow];
  };
  float log_sum[kQueries], delta[kQueries];
};

/// Scores and the gradient of their weights: warp w makes keys 16 w .. 16 w + 15.
template <class T, int Head>
__device__ __forceinline__ void score_queries(BackwardTile<T, Head>& tile, int warp) {
  using Tile = BackwardTile<T, Head>;
  for (int r = 0; r < Tile::kQueries; r += 16) {
    Sums scores, weights;
    wmma::fill_fragment(scores, 0.0f);
    wmma::fill_fragment(weights, 0.0f);
    add_products<T, Head>(scores, tile.q + r * Tile::kRow, tile.k + 16 * warp * Tile::kRow);
    add_products<T, Head>(weights, tile.d_o + r * Tile::kRow, tile.v + 16 * warp * Tile::kRow);
    wmma::store_matrix_sync(tile.s + r * Tile::kScoreRow + 16 * warp, scores, Tile::kScoreRow, wmma::mem_row_major);
    wmma::store_matrix_sync(tile.dp + r * Tile::kScoreRow + 16 * warp, weights, Tile::kScoreRow, wmma::mem_row_major);
  }
}

/// Scores become weights, and the weights' gradient that of the scores. `key`, `query`: the tile's first ones.
template <class T, int Head>
__device__ __forceinline__ void weigh_queries(BackwardTile<T, Head>& tile, const AttentionCall& a, int key, int query) {
  using Tile = BackwardTile<T, Head>;
  const float scale = rsqrtf(static_cast<float>(Head));
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kQueries * Tile::kKeys; i += kThreads) {
    const int r = i / Tile::kKeys, c = i % Tile::kKeys, at = r * Tile::kScoreRow + c;
    const bool seen = query + r < a.queries && key + c < a.keys && (!a.causal || key + c <= query + r);
    const float weight = seen ? __expf(tile.s[at] * scale - tile.log_sum[r]) : 0.0f;
    tile.p[at] = from_float<T>(weight);
    tile.ds[at] = from_float<T>(seen ? weight * (tile.dp[at] - tile.delta[r]) * scale : 0.0f);
  }
}

/// dV += P^T dO and dK += dS^T Q: warp w keeps keys 16 w .. 16 w + 15.
template <class T, int Head>
__device__ __forceinline__ void add_key_value_gradients(const BackwardTile<T, Head>& tile, int warp,
                                                        Sums (&key_sums)[Head / 16], Sums (&value_sums)[Head / 16]) {
  using Tile = BackwardTile<T, Head>;
  for (int r = 0; r < Tile::kQueries; r += 16) {
    LeftColumns<T> weights, scores;
    wmma::load_matrix_sync(weights, tile.p + r * Tile::kScoreRow + 16 * warp, Tile::kScoreRow);
    wmma::load_matrix_sync(scores, tile.ds + r * Tile::kScoreRow + 16 * warp, Tile::kScoreRow);
#pragma unroll
    for (int d = 0; d < Head / 16; ++d) {
      RightRows<T> right;
      wmma::load_matrix_sync(right, tile.d_o + r * Tile::kRow + 16 * d, Tile::kRow);
      wmma::mma_sync(value_sums[d], weights, right, value_sums[d]);
      wmma::load_matrix_sync(right, tile.q + r * Tile::kRow + 16 * d, Tile::kRow);
      wmma::mma_sync(key_sums[d], scores, right, key_sums[d]);
    }
  }
}

/// dQ += dS K: warp w makes columns 16 w, 16 (w + 4) ... of it, and all threads of the block add it to `dq`.
/// `query`: the tile's first one. Scores were used up before the last barrier.
template <class T, int Head>
__device__ __forceinline__ void add_query_gradients(BackwardTile<T, Head>& tile, const AttentionCall& a, int warp,
                                                    int query, float* dq) {
  using Tile = BackwardTile<T, Head>;
  for (int r = 0; r < Tile::kQueries; r += 16) {
    for (int d = 16 * warp; d < Head; d += 16 * kWarps) {
      Sums sums;
      wmma::fill_fragment(sums, 0.0f);
      add_weighted<T, Head, Tile::kKeys>(sums, tile.ds + r * Tile::kScoreRow, tile.k + d);
      wmma::store_matrix_sync(tile.dq + r * Tile::kRow + d, sums, Tile::kRow, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kQueries * Head; i += kThreads) {
    const int r = i / Head, d = i % Head;
    if (query + r < a.queries)
      atomicAdd(dq + static_cast<std::int64_t>(query + r) * Head + d, tile.dq[r * Tile::kRow + d]);
  }
}

/// One block: 64 keys of one head, over all queries that see them. Each warp keeps the gradients of 16 keys and values
/// in registers; gradients of queries are added to `dq` (fp32, sequences x heads x queries x head size).
template <class T, int Head>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(AttentionCall a, const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                    const T* __restrict__ d_o, const float* __restrict__ log_sum, const float* __restrict__ delta,
                    float* __restrict__ dq, T* __restrict__ dk, T* __restrict__ dv) {
  if constexpr (multiplies<T>()) {
    using Tile = BackwardTile<T, Head>;
    Tile& tile = *reinterpret_cast<Tile*>(dynamic_shared());
    q = head_of(q, a.q, a);
    k = head_of(k, a.k, a);
    v = head_of(v, a.v, a);
    d_o = head_of(d_o, a.o, a);
    dk = head_of(dk, a.k, a);
    dv = head_of(dv, a.v, a);
    log_sum += static_cast<std::int64_t>(blockIdx.y) * a.queries;
    delta += static_cast<std::int64_t>(blockIdx.y) * a.queries;
    dq += static_cast<std::int64_t>(blockIdx.y) * a.queries * Head;
    const int first = static_cast<int>(blockIdx.x) * Tile::kKeys;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    load_tile<T, Tile::kKeys, Head>(k, a.k.row, first, a.keys, tile.k);
    load_tile<T, Tile::kKeys, Head>(v, a.v.row, first, a.keys, tile.v);
    Sums key_sums[Head / 16], value_sums[Head / 16];
#pragma unroll
    for (int d = 0; d < Head / 16; ++d) {
      wmma::fill_fragment(key_sums[d], 0.0f);
      wmma::fill_fragment(value_sums[d], 0.0f);
    }
    const int first_query = a.causal ? first / Tile::kQueries * Tile::kQueries : 0;
    for (int query = first_query; query < a.queries; query += Tile::kQueries) {
      __syncthreads();
      load_tile<T, Tile::kQueries, Head>(q, a.q.row, query, a.queries, tile.q);
      load_tile<T, Tile::kQueries, Head>(d_o, a.o.row, query, a.queries, tile.d_o);
      for (int r = static_cast<int>(threadIdx.x); r < Tile::kQueries; r += kThreads) {
        tile.log_sum[r] = query + r < a.queries ? log_sum[query + r] : 0.0f;
        tile.delta[r] = query + r < a.queries ? delta[query + r] : 0.0f;
      }
      __syncthreads();
      score_queries<T, Head>(tile, warp);
      __syncthreads();
      weigh_queries<T, Head>(tile, a, first, query);
      __syncthreads();
      add_key_value_gradients<T, Head>(tile, warp, key_sums, value_sums);
      add_query_gradients<T, Head>(tile, a, warp, query, dq);
    }

    // Out through shared memory: fragments do not say which element is whose.
    __syncthreads();
    float* const out = reinterpret_cast<float*>(&tile);
    constexpr int kOutRow = Head + kPad;
    static_assert(sizeof(float) * Tile::kKeys * kOutRow <= sizeof(Tile));
#pragma unroll  // fragments chosen when the kernel runs would live in local memory, all through the loop above
    for (int which = 0; which < 2; ++which) {
#pragma unroll
      for (int d = 0; d < Head / 16; ++d) {
        wmma::store_matrix_sync(out + 16 * warp * kOutRow + 16 * d, which == 0 ? key_sums[d] : value_sums[d], kOutRow,
                                wmma::mem_row_major);
      }
      __syncthreads();
      T* const to = which == 0 ? dk : dv;
      const std::int64_t stride = which == 0 ? a.k.row : a.v.row;
      for (int i = static_cast<int>(threadIdx.x); i < Tile::kKeys * (Head / kPack<T>); i += kThreads) {
        const int r = i / (Head / kPack<T>), c = i % (Head / kPack<T>) * kPack<T>;
        if (first + r >= a.keys) continue;
        float pack[kPack<T>];
#pragma unroll
        for (int e = 0; e < kPack<T>; ++e) pack[e] = out[r * kOutRow + c + e];
        store_pack(to + (first + r) * stride + c, pack);
      }
      __syncthreads();
    }
  }
}

/// The fp32 gradient of the queries to where T lies.
template <class T>
__global__ void __launch_bounds__(kThreads)
    query_gradient_kernel(AttentionCall a, const float* __restrict__ from, T* __restrict__ to) {
  from += static_cast<std::int64_t>(blockIdx.y) * a.queries * a.head;
  to = head_of(to, a.q, a);
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // of elements of one head
  if (i < a.queries * a.head) to[i / a.head * a.q.row + i % a.head] = from_float<T>(from[i]);
}

void require(const AttentionCall& a) {
  const auto rows_are_packs = [](const AttentionStrides& s) {
    return s.row % 8 == 0 && s.head % 8 == 0 && s.sequence % 8 == 0;
  };
  if (a.sequences < 1 || a.heads < 1 || a.sequences * a.heads > 65535 || a.queries < 1 || a.keys < 1 ||
      (a.causal && a.queries != a.keys) || !rows_are_packs(a.q) || !rows_are_packs(a.k) || !rows_are_packs(a.v) ||
      !rows_are_packs(a.o)) {
    throw std::logic_error("attention of " + std::to_string(a.sequences) + " x " + std::to_string(a.heads) +
                           " heads of " + std::to_string(a.queries) + " queries");
  }
}

dim3 grid_over(const AttentionCall& a, int rows, int per_block) {
  dim3 grid = grid_of(blocks_for(rows, per_block));
  grid.y = static_cast<unsigned>(a.sequences * a.heads);
  return grid;
}

template <class T, int Head>
void forward_of(const AttentionCall& a, const T* q, const T* k, const T* v, T* o, float* log_sum, cudaStream_t stream) {
  using Tile = ForwardTile<T, Head>;
  check_cuda(cudaFuncSetAttribute(forward_kernel<T, Head>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Tile))),
             "shared memory of attention_forward");
  launch("attention_forward", forward_kernel<T, Head>, grid_over(a, a.queries, Tile::kQueries), kThreads, sizeof(Tile),
         stream, a, q, k, v, o, log_sum);
}

template <class T, int Head>
void backward_of(const AttentionCall& a, const T* q, const T* k, const T* v, const T* d_o, const float* log_sum,
                 const float* delta, float* dq, T* dk, T* dv, cudaStream_t stream) {
  using Tile = BackwardTile<T, Head>;
  check_cuda(cudaFuncSetAttribute(backward_kernel<T, Head>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Tile))),
             "shared memory of attention_backward");
  launch("attention_backward", backward_kernel<T, Head>, grid_over(a, a.keys, Tile::kKeys), kThreads, sizeof(Tile),
         stream, a, q, k, v, d_o, log_sum, delta, dq, dk, dv);
}

}  // namespace

template <class T>
void attention_forward(const AttentionCall& a, const T* q, const T* k, const T* v, T* o, float* log_sum,
                       cudaStream_t stream) {
  require(a);
  if (a.head == 64) return forward_of<T, 64>(a, q, k, v, o, log_sum, stream);
  if (a.head == 128) return forward_of<T, 128>(a, q, k, v, o, log_sum, stream);
  throw std::logic_error("attention of heads of " + std::to_string(a.head));
}

std::int64_t attention_work(const AttentionCall& a) {
  return a.sequences * a.heads * a.queries * (std::int64_t{a.head} + 1);
}

template <class T>
void attention_backward(const AttentionCall& a, const T* q, const T* k, const T* v, const T* o, const T* d_o,
                        const float* log_sum, T* dq, T* dk, T* dv, float* work, cudaStream_t stream) {
  require(a);
  const std::int64_t elements = a.sequences * a.heads * a.queries * a.head;
  float* const delta = work + elements;
  check_cuda(cudaMemsetAsync(work, 0, static_cast<std::size_t>(elements) * sizeof(float), stream), "cudaMemsetAsync");
  launch("attention_delta", delta_kernel<T>, grid_over(a, a.queries, kWarps), kThreads, 0, stream, a, o, d_o, delta);
  if (a.head == 64) {
    backward_of<T, 64>(a, q, k, v, d_o, log_sum, delta, work, dk, dv, stream);
  } else if (a.head == 128) {
    backward_of<T, 128>(a, q, k, v, d_o, log_sum, delta, work, dk, dv, stream);
  } else {
    throw std::logic_error("attention of heads of " + std::to_string(a.head));
  }
  launch("attention_query_gradient", query_gradient_kernel<T>, grid_over(a, a.queries * a.head, kThreads), kThreads, 0,
         stream, a, work, dq);
}

#define STEPCAST_ATTENTION_OF(T)                                                                                       \
  template void attention_forward(const AttentionCall&, const T*, const T*, const T*, T*, float*, cudaStream_t);           \
  template void attention_backward(const AttentionCall&, const T*, const T*, const T*, const T*, const T*, const float*, T*, \
                                   T*, T*, float*, cudaStream_t)
STEPCAST_ATTENTION_OF(bf16);
STEPCAST_ATTENTION_OF(half);

}  // namespace stepcast::measure
