#!/usr/bin/env bash
# Puts a folder that `stepcast fit calibrate/data/nccl/curves.csv --output FOLDER` wrote where its parts belong.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
folder=${1:?usage: scripts/install_fit.sh FOLDER}
cp "$folder"/software/*.yaml configs/software/
for block in "$folder"/links/*.yaml; do
  link=configs/links/$(basename "$block")
  sed -i '/^# Of NCCL over it/,$d' "$link"
  cat "$block" >> "$link"
done
cp "$folder/machines.txt" docs/nccl-machines.txt
