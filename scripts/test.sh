#!/usr/bin/env bash
# All checks, as CI runs them: both builds with their tests, headers alone, includes, layout, every scenario, and the
# same bytes from gcc and clang and from one thread and eight. Stops at the first section that fails.
# The last line is "N passed, N failed".
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
cd "$root"
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
work=$(mktemp -d)
passed=0 failed=0

say() { printf 'test.sh: %s\n' "$*" >&2; }
fail() {
  say "$@"
  failed=$((failed + 1))
  exit 1
}
pass() { passed=$((passed + 1)); }
section() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

finish() {
  local status=$?
  rm -rf -- "$work"
  if ((status != 0 && failed == 0)); then failed=1; fi # stopped by set -e or a signal: that is a failure too
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
}
trap finish EXIT

# Runs quietly; its output is shown only if it fails.
quietly() {
  local log=$work/quietly.log
  "$@" >"$log" 2>&1 && return
  tail -n 120 "$log"
  fail "failed: $*"
}

# A folder that is new compiles files of one folder as one, in half to two thirds of the time, and runs many tests in one
# process (cmake/Stepcast.cmake); one that a developer builds in goes on as it is.
build() { # PRESET [cmake options of a new folder]
  local preset=$1 short=()
  shift
  [[ -f build/$preset/CMakeCache.txt ]] || short=(-D CMAKE_UNITY_BUILD=ON -D STEPCAST_TEST_SHARES=8 "$@")
  quietly cmake --preset "$preset" "${short[@]}"
  quietly cmake --build --preset "$preset" -j "$jobs"
  pass
}

run_ctest() { # PRESET
  local log=$work/ctest.log status=0 good bad processes tests
  ctest --preset "$1" -j "$jobs" >"$log" 2>&1 || status=$?
  # "98% tests passed, 1 tests failed out of 57"
  read -r bad good < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p' "$log") ||
    { tail -n 40 "$log"; fail "ctest --preset $1 ran no tests"; }
  passed=$((passed + good - bad)) failed=$((failed + bad))
  if ((status != 0)); then
    grep -vE '^ *[0-9]+/[0-9]+ .* Passed |^ *Start +[0-9]+:' "$log" | tail -n 300
    exit 1
  fi
  # Of the processes that run many tests, each test counts.
  read -r processes tests < <(awk '/^\[  PASSED  \] [0-9]+ tests?\.$/ { ++n; sum += $4 } END { print n + 0, sum + 0 }' \
    "build/$1/Testing/Temporary/LastTest.log")
  passed=$((passed - processes + tests))
  grep -E 'tests passed|^Total Test time' "$log"
  echo "$tests tests in $processes processes"
}

section "packages"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh
install_missing "${packages[@]}" "${optional_packages[@]}" "${test_packages[@]}" clang lld
pass

section "includes run downward only"
quietly scripts/check_includes.sh
pass

section "a type's name has one meaning"
quietly scripts/check_names.sh
pass

section "scripts of GPU nodes"
quietly bash -n scripts/calibrate_dgx.sh
quietly bash -n scripts/measure_one_gpu.sh
quietly python3 -c 'compile(open("scripts/measure_pytorch.py").read(), "measure_pytorch.py", "exec")'
quietly python3 -c 'compile(open("scripts/measure_pytorch_kernels.py").read(), "measure_pytorch_kernels.py", "exec")'
pass

section "layout"
if command -v clang-format >/dev/null && [[ $(clang-format --version) == *"version 14."* ]]; then
  git ls-files '*.h' '*.cpp' | xargs -r clang-format --dry-run -Werror || fail "run clang-format -i on these"
  pass
else
  echo "skipped: no clang-format 14"
fi

section "lint: lines that changed since the last commit"
if git rev-parse -q --verify 'HEAD^' >/dev/null; then
  scripts/lint.sh || fail "see above; .clang-tidy has the rules"
  pass
else
  echo "skipped: no earlier commit"
fi

section "source files that changed since the last commit compile alone"
if git rev-parse -q --verify 'HEAD^' >/dev/null; then
  quietly scripts/compile_alone.sh
  pass
else
  echo "skipped: no earlier commit"
fi

section "release: build"
build release

section "release: tests"
run_ctest release

section "each header without a source file compiles alone"
quietly cmake --build --preset release -j "$jobs" --target all_verify_interface_header_sets
pass

section "clang and sanitizers: build"
build ci -D STEPCAST_PAGE="$root/build/release/report/page.html" # not made twice

section "clang and sanitizers: tests"
run_ctest ci

section "CUDA: the measuring programs compile"
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
  quietly cmake --preset cuda -D STEPCAST_TESTS=OFF -D CMAKE_UNITY_BUILD=ON -D CMAKE_CUDA_ARCHITECTURES=90 # one GPU's code
  quietly cmake --build --preset cuda -j "$jobs" --target stepcast_measure
  quietly build/cuda/calibrate/measure/stepcast_measure --list --quick
  pass
else
  echo "skipped: no nvcc"
fi

section "every scenario runs: the same bytes from gcc and clang, from 1 thread and 8"
mapfile -t scenarios < <(
  git ls-files -co --exclude-standard 'scenarios/*.yaml' 'scenarios/**/*.yaml' 'scenarios/**/*.csv' | sort -u
)
((${#scenarios[@]} > 0)) || fail "no scenarios found"
printf '%s\0' "${scenarios[@]}" | xargs -0 -n 1 -P "$jobs" scripts/same_bytes.sh || fail "see above"
passed=$((passed + ${#scenarios[@]}))
echo "${#scenarios[@]} scenarios"

section "published runs: predicted beside measured"
build/release/stepcast validate scenarios/published | tail -n 8
pass

section "benchmarks run"
quietly build/release/tests/stepcast_bench --benchmark_min_time=0.01 --benchmark_filter='quickstart|run/64'
pass
