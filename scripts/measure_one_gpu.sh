#!/usr/bin/env bash
# All that one GPU can tell, in half an hour of its time: stages of less than ten minutes each, most needed first. A stage
# that is done is not repeated; one that was cut off goes on where it stopped. What it leaves is a bundle and its profile.
set -euo pipefail
PATH=$PATH:/usr/local/cuda/bin
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")

usage() {
  cat <<'TEXT'
scripts/measure_one_gpu.sh [--out FOLDER] [--stage NAME] [--dry-run]
  --out FOLDER   the bundle (default: bundle)
  --stage NAME   this stage alone: build, check, kernels, pytorch, own, eager, compiled, sanitize, profile (default: all)
  --dry-run      print each stage's seconds and commands; needs no GPU
Environment: STEPCAST_MEASURE and PYTHON name programs to run in place of those built and found; STEPCAST the program
that fits the profile (default: build/release/stepcast; left out where it is not there).
TEXT
}
say() { printf 'measure_one_gpu.sh: %s\n' "$*" >&2; }

out=bundle only='' dry=0
while (($#)); do
  case $1 in
    --out | --stage) (($# > 1)) || { usage >&2; exit 2; } ;;&
    --out) out=$2 && shift ;;
    --stage) only=$2 && shift ;;
    --dry-run) dry=1 ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && say "found '$1'" && exit 2 ;;
  esac
  shift
done

build=$root/build-measure
measure=${STEPCAST_MEASURE:-$build/stepcast_measure} python=${PYTHON:-python3} stepcast=${STEPCAST:-$root/build/release/stepcast}
q() { printf '%q' "$1"; }
o=$(q "$out") m=$(q "$measure") p=$(q "$python") s=$(q "$root/scripts")
sanitizer="compute-sanitizer --error-exitcode 9 --tool"

# Name, seconds, commands. The seconds of all together stay below the 1,800 of half an hour.
stages=(build check kernels pytorch own eager compiled sanitize profile)
declare -A seconds=([build]=240 [check]=60 [kernels]=420 [pytorch]=180 [own]=120 [eager]=240 [compiled]=240 [sanitize]=200 [profile]=30)
declare -A commands=(
  [build]="[[ -x $m ]] || { cmake -S $(q "$root/calibrate/measure") -B $(q "$build") -D CMAKE_BUILD_TYPE=Release && cmake --build $(q "$build") -j \$(nproc); }"
  [check]="$m --check 2>$o/check.log"
  [kernels]="$m --alone --gpus 1 --out $o --suite kernels,sustained,copies,interference --time-limit 210 --sustained 20"
  [pytorch]="$p $s/measure_pytorch_kernels.py --out $o --quick"
  [own]="$m --alone --gpus 1 --out $o --suite steps --time-limit 90"
  [eager]="$p $s/measure_pytorch.py --out $o/steps --mode eager --steps 8 --time-limit 200"
  [compiled]="$p $s/measure_pytorch.py --out $o/steps --mode compiled --steps 8 --time-limit 180"
  [sanitize]="$sanitizer memcheck $m --check >$o/memcheck.log 2>&1 && $sanitizer racecheck $m --check >$o/racecheck.log 2>&1"
  [profile]="[[ ! -x $(q "$stepcast") ]] || $(q "$stepcast") calibrate --bundle $o --out $o.yaml >$o.txt"
)
[[ -z $only || -n ${seconds[$only]:-} ]] || { usage >&2; say "--stage: found '$only'"; exit 2; }

if ((dry)); then
  sum=0
  for stage in "${stages[@]}"; do
    [[ -z $only || $stage == "$only" ]] || continue
    printf '%-9s %4d s  %s\n' "$stage" "${seconds[$stage]}" "${commands[$stage]}"
    ((sum += seconds[$stage]))
  done
  printf '%-9s %4d s\n' all "$sum"
  exit
fi

mkdir -p "$out/done"
failed=0
for stage in "${stages[@]}"; do
  [[ -z $only || $stage == "$only" ]] || continue
  if [[ -e $out/done/$stage ]]; then
    say "$stage: done before"
    continue
  fi
  say "$stage: at most ${seconds[$stage]} s"
  status=0
  timeout --kill-after 10 "${seconds[$stage]}" bash -c "${commands[$stage]}" || status=$?
  if ((status == 0)); then
    : >"$out/done/$stage"
  else
    failed=1
    case $status in
      124 | 137) say "$stage: cut off after ${seconds[$stage]} s; the same command goes on" ;;
      *) say "$stage: exit status $status; what it measured is kept" ;;
    esac
    # Kernels that fail their checks are not worth timing.
    [[ $stage != build && $stage != check ]] || break
  fi
done
exit "$failed"
