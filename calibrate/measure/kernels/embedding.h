#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// The part of a table of rows that this GPU holds: rows first .. first + count - 1.
struct TablePart {
  std::int32_t first = 0, count = 0;
};

/// y[r] = table[ids[r] - first], zeros for ids that other GPUs hold; with `add`, added to what y holds.
/// Columns in multiples of 16 bytes. T: float or bf16.
template <class T>
void embedding_gather(const T* table, TablePart part, const std::int32_t* ids, T* y, bool add, std::int64_t rows,
                      std::int64_t columns, cudaStream_t stream);

/// gradient[ids[r] - first] += dy[r], for ids that this GPU holds (fp32, atomic).
template <class T>
void embedding_scatter(const T* dy, const std::int32_t* ids, float* gradient, TablePart part, std::int64_t rows,
                       std::int64_t columns, cudaStream_t stream);

}  // namespace stepcast::measure
