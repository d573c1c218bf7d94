#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepcast::schedules {

/// fp8, mxfp8: low precision, of the linear multiplies of a transformer's layers alone; all else is bf16. fp8 has a
/// scale for each tensor, mxfp8 one for each 32 numbers; nvfp4 one of 8 bits for each 16 of 4 bits, and one a tensor.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };
inline constexpr std::array<std::string_view, 7> kPrecisionNames = {"fp32", "tf32",  "fp16", "bf16",
                                                                    "fp8",  "mxfp8", "nvfp4"};
constexpr std::string_view name(Precision p) { return kPrecisionNames[static_cast<std::size_t>(p)]; }

constexpr bool is_eight_bits(Precision p) { return p == Precision::fp8 || p == Precision::mxfp8; }
constexpr bool is_low_precision(Precision p) { return is_eight_bits(p) || p == Precision::nvfp4; }
/// What runs beside multiplies of low precision.
constexpr Precision beside_low_precision(Precision p) { return is_low_precision(p) ? Precision::bf16 : p; }

/// Bytes of one stored element: tf32 is stored as fp32.
constexpr std::int64_t element_bytes(Precision p) { return p == Precision::fp32 || p == Precision::tf32 ? 4 : 2; }

constexpr bool has_matrix_units(Precision p) { return p != Precision::fp32; }

}  // namespace stepcast::schedules
