#!/usr/bin/env bash
# leave_one_out.sh [PROGRAM]: fits the constants that a published table was fitted to once more, without that table: to the least
# mean error of all other published and assumed tables. Writes them to tests/golden/left_out.txt; a test forecasts
# the table with them and writes docs/accuracy.md. Some 7 minutes. Run it when the model or a constant changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
out=tests/golden/left_out.txt
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# A constant is "KEY FILE...": those files of configs/ that have it, or have taken it over.
h100='step_share gpus/h100-sxm5-80gb gpus/h200-sxm gpus/h800-sxm gpus/gh200-96gb'
b200='step_share gpus/b200 gpus/b300'
fsdp='compute_share software/llm-foundry software/pytorch-fsdp2'

put() { # VALUE KEY FILE...
  local value=$1 key=$2 file
  for file in "${@:3}"; do
    mkdir -p "$work/configs/${file%/*}"
    [[ -f $work/configs/$file.yaml ]] || cp "configs/$file.yaml" "$work/configs/$file.yaml"
    grep -q "^$key:" "$work/configs/$file.yaml" || { echo "configs/$file.yaml has no $key" >&2; exit 1; }
    sed -i "s/^$key:.*/$key: $value/" "$work/configs/$file.yaml"
  done
}

# Of all tables but one, the mean of the errors without their signs.
mean_without() { # TABLE
  local folder
  for folder in published assumed; do
    STEPCAST_CONFIGS=$work/configs "$program" validate "scenarios/$folder" --format csv
  done | awk -F, -v table="$1" '$2 != table && $6 + 0 == $6 {sum += $6 < 0 ? -$6 : $6; ++rows} END {printf "%.9f", sum / rows}'
}

# shellcheck disable=SC2086  # a constant is several words
leave_out() { # TABLE CONSTANT...
  local table=$1 constant value best least error file
  shift
  rm -rf "$work/configs"
  declare -A found
  for constant in "$@"; do
    found[$constant]=1
    put 1 $constant
  done
  for _ in "$@"; do # one after the other, as often as there are constants
    for constant in "$@"; do
      best=- least=9
      for value in $(seq 0.80 0.02 1.00); do
        put "$value" $constant
        error=$(mean_without "$table")
        if awk "BEGIN {exit !($error < $least)}"; then best=$value least=$error; fi
      done
      put "$best" $constant
      found[$constant]=$best
    done
  done
  for constant in "$@"; do
    set -- $constant
    for file in "${@:2}"; do echo "$table $file $1 ${found[$constant]}"; done
  done
}

{
  leave_out mosaic_llm_foundry "$h100" "$fsdp"
  leave_out simumax_b200_itertime "$b200"
} >"$work/out"
mv "$work/out" "$out"
