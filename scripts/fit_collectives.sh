#!/usr/bin/env bash
# fit_collectives.sh [PROGRAM [FOLDER]]: fits all stacks and networks to the recorded collectives of calibrate/data/nccl/
# and puts what comes out where it belongs: configs/software/nccl-*.yaml whole, the `nccl` block at the end of each
# network's file in configs/links/, and docs/nccl-machines.txt. Ten minutes of two cores. Run it when curves.csv or a cost
# model changed. FOLDER: what a fit has already written, which is put in place alone.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
folder=${2:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  STEPCAST_CONFIGS=$PWD/configs "$program" fit calibrate/data/nccl/curves.csv --output "$folder"
fi
cp "$folder"/software/*.yaml configs/software/
for block in "$folder"/links/*.yaml; do
  link=configs/links/$(basename "$block")
  sed -i '/^# Of NCCL over it/,$d' "$link"
  cat "$block" >> "$link"
done
cp "$folder/machines.txt" docs/nccl-machines.txt
