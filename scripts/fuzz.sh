#!/usr/bin/env bash
# Searches for inputs that break a parser or a forecast: scripts/fuzz.sh SECONDS [TARGET...]
#
# Builds the preset fuzz (clang, libFuzzer, address and undefined-behaviour sanitizers) and runs each target of
# tests/fuzz (all of them, or those named) for SECONDS, as many at a time as the machine has cores (STEPCAST_FUZZ_JOBS).
# An input counts once for each time the target ran on it; more than 10 s, 1 GiB or 1 MiB of an input is a failure like
# a crash. Inputs begin with tests/fuzz/corpus, configs/ and scenarios/, and with the folders TARGET/ below
# STEPCAST_FUZZ_SEEDS, if that is set. What is found stays in build/fuzz/found/TARGET, outside git, and is where the
# next run goes on; what fails is in build/fuzz/failed/TARGET. Prints a table (Markdown) on stdout, all else on stderr.
# Exit status 1 where a target failed.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
cd "$root"
build=$root/build/fuzz
jobs=${STEPCAST_FUZZ_JOBS:-$(nproc)}

say() { printf 'fuzz.sh: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 2
}

[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || fail "usage: scripts/fuzz.sh SECONDS [TARGET...]"
seconds=$1
shift
all=()
for source in tests/fuzz/*_fuzz.cpp; do all+=("$(basename "$source" _fuzz.cpp)"); done
targets=("${@:-${all[@]}}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || fail "there is no target '$target', expected one of ${all[*]}"
done

say "building"
cmake --preset fuzz >&2
cmake --build --preset fuzz -j "$jobs" --target "${targets[@]/%/_fuzz}" >&2

# Inputs to begin with, made of what the repository holds anyway.
seeds=$build/seeds
rm -rf -- "$seeds"
for target in "${all[@]}"; do mkdir -p "$seeds/$target"; done
for kind in cluster node gpu link fabric software model profile; do
  folder=configs/${kind}s
  [[ $kind == software ]] && folder=configs/software
  [[ -d $folder ]] || continue
  for file in "$folder"/*.yaml; do
    { echo "$kind"; cat "$file"; } >"$seeds/config/$kind-$(basename "$file")"
  done
done
while IFS= read -r file; do
  name=${file//\//_}
  if [[ $file == *.csv ]]; then
    head -n 3 "$file" >"$seeds/runs_table/$name" # a row is a scenario: three of them say it all, and fast
  else
    cp "$file" "$seeds/scenario/$name"
    cp "$file" "$seeds/forecast/$name"
  fi
done < <(git ls-files 'scenarios/*.yaml' 'scenarios/**/*.yaml' 'scenarios/**/*.csv')
cp tests/fuzz/corpus/scenario/* "$seeds/forecast/"
head -n 20 configs/residuals.csv >"$seeds/tables/residuals.csv"
grep -rhoE '[0-9.]+ [kMGTPKi]*(B|bit|B/s|bit/s|FLOP/s|[pnum]?s|min|h)\b' configs | sort -u |
  awk -v folder="$seeds/units/" '{ file = folder NR; print >file; close(file) }'

# Words of the language, for the targets whose inputs are made of them.
dictionary=$build/words.dict
{ grep -rhoE '[a-z_0-9]+:' configs scenarios --include='*.yaml' | sort -u
  grep -rhoE '^[^ ]{1,30}$' <(find configs -name '*.yaml' -printf '%f\n' | sed 's/\.yaml$//')
} | sort -u | sed -E 's/.*/"&"/' >"$dictionary"

limits() { # TARGET: the longest input, and its words
  case $1 in
    units) echo -max_len=256 ;;
    allocation | orders | plan) echo -max_len=4096 ;;
    setting) echo "-max_len=4096 -dict=$dictionary" ;;
    config | curves | forecast | runs_table | scenario) echo "-max_len=65536 -dict=$dictionary" ;;
    *) echo -max_len=1048576 ;;
  esac
}

run() { # TARGET
  local target=$1 found=$build/found/$1 failed=$build/failed/$1 from=("tests/fuzz/corpus/$1" "$seeds/$1")
  mkdir -p "$found" "$failed" "$build/logs"
  if [[ -d ${STEPCAST_FUZZ_SEEDS:-}/$target ]]; then from+=("$STEPCAST_FUZZ_SEEDS/$target"); fi
  # Entropic energies cost a third of the time of targets that cover much.
  # shellcheck disable=SC2046
  ASAN_OPTIONS=quarantine_size_mb=64:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1 \
    LSAN_OPTIONS=suppressions=$root/tests/leaks_of_libraries.supp:print_suppressions=0 \
    "$build/tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=1024 -entropic=0 -print_final_stats=1 -artifact_prefix="$failed/" $(limits "$target") \
    "$found" "${from[@]}" >"$build/logs/$target.log" 2>&1 || touch "$build/logs/$target.failed"
}
say "running ${#targets[@]} targets for $seconds s each, $jobs at a time"
rm -f -- "$build"/logs/*.failed
for target in "${targets[@]}"; do
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
  run "$target" &
done
wait

stat() { # TARGET NAME: of libFuzzer's last lines
  sed -nE "s/^stat::$2: *([0-9]+)$/\1/p" "$build/logs/$1.log" | tail -n 1
}
printf '| target | inputs | inputs/s | kept | slowest input | peak memory | failures |\n|---|--:|--:|--:|--:|--:|--:|\n'
total=0 bad=0
for target in "${targets[@]}"; do
  inputs=$(stat "$target" number_of_executed_units) rate=$(stat "$target" average_exec_per_sec)
  slowest=$(stat "$target" slowest_unit_time_sec) memory=$(stat "$target" peak_rss_mb)
  kept=$(find "$build/found/$target" -type f | wc -l) failures=0
  if [[ -e $build/logs/$target.failed ]]; then
    failures=1
    say "$target failed: $build/logs/$target.log, $(find "$build/failed/$target" -type f -newer "$dictionary" | head -n 1)"
  fi
  if [[ ${slowest:-0} == 0 ]]; then slowest="< 1"; fi
  printf '| %s | %s | %s | %s | %s s | %s MiB | %d |\n' "$target" "${inputs:-0}" "${rate:-0}" "$kept" "$slowest" \
    "${memory:-?}" "$failures"
  total=$((total + ${inputs:-0})) bad=$((bad + failures))
done
printf '| all | %s | | | | | %d |\n' "$total" "$bad"
((bad == 0))
