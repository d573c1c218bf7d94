#!/usr/bin/env bash
# search_regret.sh [PROGRAM]: for each model of the Ultra-Scale Playbook (scenarios/ultrascale) fits the stack nanotron to 20 plans
# of the other models and their network's bus bandwidths, and writes it to tests/golden/ultrascale. A test forecasts the
# model's plans with it and writes what a search's choice loses to docs/search.md. Some 8 minutes of two cores. Run it when
# the model or the fit changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
export STEPCAST_CONFIGS=$PWD/configs
shopt -s extglob
mkdir -p tests/golden/ultrascale
fit() { # MODEL
  "$program" fit --runs scenarios/ultrascale/!(llama_"$1"_*).csv --network calibrate/data/busbw_ultrascale_h100.csv \
    --rows 20 --seed 1 --output "tests/golden/ultrascale/without_llama_$1.yaml"
}
for model in 1b 3b 8b 80b; do
  fit "$model" &
done
wait
