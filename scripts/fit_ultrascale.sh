#!/usr/bin/env bash
# fit_ultrascale.sh [PROGRAM]: fits the stack nanotron to 20 plans of the Ultra-Scale Playbook (scenarios/ultrascale) and its
# network's bus bandwidths, five times with other plans, and writes what comes out, and how the other plans are then
# forecast, to docs/ultrascale-fits.txt. Some ten minutes of two cores. Run it when the model or the fit changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
export STEPCAST_CONFIGS=$PWD/configs
out=docs/ultrascale-fits.txt
{
  echo "Written by scripts/fit_ultrascale.sh: stepcast fit --runs scenarios/ultrascale/*.csv"
  echo "--network calibrate/data/busbw_ultrascale_h100.csv --rows 20 --seed SEED. All figures but the constants are of the"
  echo "plans that were not fitted to."
  for seed in 1 2 3 4 5; do
    echo
    echo "seed $seed"
    "$program" fit --runs scenarios/ultrascale/*.csv --network calibrate/data/busbw_ultrascale_h100.csv \
      --rows 20 --seed "$seed" | sed -n \
      -e 's/^\([a-z_]*\): \([^#]*\)  # 95 %: \(.*\)/  \1 \2 (\3)/p' \
      -e 's/^# \([a-z_]*\) as in [a-z-]*: not told.*/  \1 not told/p' \
      -e 's/^# \(network: [0-9.]*\).*/  \1 times the table/p' \
      -e 's/^# runs that were not fitted to: /  /p' -e 's/^# rank correlation/  rank correlation/p'
  done
} >"$out.new"
mv "$out.new" "$out"
