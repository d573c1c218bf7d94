#!/usr/bin/env bash
# search_published.sh [PROGRAM]: searches the best plan for every published run (scenarios/published) and writes it beside the
# run's own to docs/search-published.txt. Some minutes of two cores. Run it when the model or the search changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
export STEPCAST_CONFIGS=$PWD/configs
out=docs/search-published.txt
{
  echo "Written by scripts/search_published.sh: stepcast search TABLE. own plan: the step of the published plan, as forecast;"
  echo "best plan: that of the fastest plan of the space that docs/search.md describes; behind it what settings differ."
  for table in scenarios/published/*.csv; do
    echo
    basename "$table" .csv
    { "$program" search "$table" || true; } | sed -e 's/; at most [0-9.e+-]* s for a run$//'
  done
} >"$out.new"
mv "$out.new" "$out"
