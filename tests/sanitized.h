#pragma once

#include <gtest/gtest.h>

// gcc 12 says so with macros, clang 14 with features.
#if defined(__SANITIZE_ADDRESS__)
#define STEPCAST_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define STEPCAST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define STEPCAST_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define STEPCAST_THREAD_SANITIZER __has_feature(thread_sanitizer)
#endif

namespace stepcast::test {

/// Built with a sanitizer, under which tests over a whole list of cases take every so manieth, and those
/// that forecast whole tables again, as scripts/test.sh does with sanitizers, are skipped: all run in release.
#if STEPCAST_ADDRESS_SANITIZER || STEPCAST_THREAD_SANITIZER
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// With sanitizers: whether to leave the next of many cases alike to release, as two of three are.
inline bool passed_over() {
  static int seen = 0;
  return kSanitized && seen++ % 3 != 0;
}

}  // namespace stepcast::test

/// At the beginning of a long test that goes the same ways through the code as others: with sanitizers it is skipped.
#define LEFT_TO_RELEASE()         \
  if (stepcast::test::kSanitized) \
  GTEST_SKIP() << "long, and nothing of memory that others do not do: checked in release"
