#!/usr/bin/env bash
# Everything that must hold before a change lands: tests as released and under sanitizers, headers and includes, every
# scenario, and the same bytes from gcc and clang on any number of threads. Installs what it needs on Debian 12.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

say() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}
source scripts/packages.sh

passed=0
run_tests() { # PRESET
  local log
  log=$(mktemp)
  if ! ctest --preset "$1" -j "$(nproc)" --output-on-failure --no-label-summary --progress >"$log" 2>&1; then
    tail -n 200 "$log"
    fail "tests failed ($1)"
  fi
  local count
  count=$(sed -n 's/.* tests passed, 0 tests failed out of \([0-9]*\).*/\1/p' "$log")
  [[ ${count:-0} -gt 0 ]] || fail "no test ran ($1)"
  passed=$((passed + count))
  echo "$count tests passed"
  rm -f "$log"
}
build() { # PRESET [TARGET...]
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! { cmake --preset "$preset" && cmake --build "build/$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
    grep -E -A12 'error|FAILED|Error' "$log" | head -n 80
    fail "the build failed ($preset)"
  fi
  rm -f "$log"
}

say "packages"
install_missing "${packages[@]}" clang

say "includes run one way"
scripts/check_includes.sh
passed=$((passed + 1))

say "release build"
build release
say "headers compile alone"
build release all_verify_interface_header_sets
passed=$((passed + 1))
say "tests"
run_tests release

say "sanitizer build"
build ci
say "tests under sanitizers"
run_tests ci

program=build/release/stepcast
say "every scenario runs"
for scenario in scenarios/*.yaml; do
  "$program" run "$scenario" >/dev/null || fail "$scenario"
  passed=$((passed + 1))
done

say "the same bytes: threads, compilers"
build clang stepcast
bytes=$(mktemp -d)
for what in scenarios/quickstart.yaml scenarios/published; do
  "$program" run "$what" --format json --threads 1 >"$bytes/gcc-1"
  "$program" run "$what" --format json --threads 8 >"$bytes/gcc-8"
  "$program" run "$what" --format json --threads 8 >"$bytes/again"
  build/clang/stepcast run "$what" --format json --threads 8 >"$bytes/clang-8"
  for other in gcc-8 again clang-8; do
    cmp "$bytes/gcc-1" "$bytes/$other" || fail "$what: other bytes from $other"
    passed=$((passed + 1))
  done
done
rm -rf "$bytes"

say "benchmarks run"
if [[ -x build/release/tests/stepcast_bench ]]; then
  build/release/tests/stepcast_bench --benchmark_min_time=0.01 --benchmark_filter='Quick' >/dev/null 2>&1 || fail "stepcast_bench"
fi

say "done"
echo "$passed passed, 0 failed"
