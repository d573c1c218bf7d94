#pragma once

#include <cstdint>

namespace stepcast::topology {

/// splitmix64's finaliser (Steele, Lea, Flood, OOPSLA 2014): numbers that differ in one bit become unrelated ones. 0
/// stays 0.
inline std::uint64_t scrambled(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The n-th independent draw of one flow, as a place among `choices`. Requires choices > 0.
inline std::uint32_t pick(std::uint64_t flow, std::uint64_t n, std::uint32_t choices) {
  return static_cast<std::uint32_t>(scrambled(flow + (n + 1) * 0x9e3779b97f4a7c15u) % choices);
}

}  // namespace stepcast::topology
