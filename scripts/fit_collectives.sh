#!/usr/bin/env bash
# Fits all stacks and networks to the recorded collectives of calibrate/data/nccl/ and puts what comes out where it
# belongs: configs/software/nccl-*.yaml whole, the `nccl` block at the end of each network's file in configs/links/, and
# docs/nccl-machines.txt. Takes half an hour of two cores. Run it when curves.csv or a cost model changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
STEPCAST_CONFIGS=$PWD/configs "$program" fit calibrate/data/nccl/curves.csv --output "$folder"
scripts/install_fit.sh "$folder"
