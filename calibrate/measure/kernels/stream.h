#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// to = from; to = from + 3 other (McCalpin's STREAM). Elements in fours.
void stream_copy(const float* from, float* to, std::int64_t elements, cudaStream_t stream);
void stream_triad(const float* from, const float* other, float* to, std::int64_t elements, cudaStream_t stream);

/// Reads all of it and writes nothing: leaves the L2 cache full of clean lines. `never` is not written.
void read_all(const float* from, float* never, std::int64_t elements, cudaStream_t stream);

/// A kernel that does nothing.
void nothing(cudaStream_t stream);

/// Pseudo-random numbers of -scale .. scale. T: float, bf16, half.
template <class T>
void fill_random(T* to, std::int64_t elements, float scale, std::uint64_t seed, cudaStream_t stream);
/// rows x columns of a larger matrix of `whole_columns` that fill_random() would fill so: the first of them is its
/// element `first`. fp32.
void fill_random_part(float* to, std::int64_t rows, std::int64_t columns, std::int64_t first,
                      std::int64_t whole_columns, float scale, std::uint64_t seed, cudaStream_t stream);
/// The same whole number below `below` for the same seed and place.
void fill_ids(std::int32_t* to, std::int64_t elements, std::int32_t below, std::uint64_t seed, cudaStream_t stream);
/// (start + i) % modulus: whole numbers.
void fill_steps(float* to, std::int64_t elements, int start, int modulus, cudaStream_t stream);
template <class T>
void fill_value(T* to, std::int64_t elements, float value, cudaStream_t stream);

/// to = from in another type.
template <class From, class To>
void convert(const From* from, To* to, std::int64_t elements, cudaStream_t stream);

}  // namespace stepcast::measure
