#!/usr/bin/env bash
# search_published.sh [PROGRAM]: searches the best plan for every published run (scenarios/published) and for every plan that
# Alpa's authors have published (scenarios/alpa), and writes it beside the run's own to docs/search-published.txt and
# docs/search-alpa.txt. Some minutes of two cores. Run it when the model or the search changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
program=${1:-build/release/stepcast}
export STEPCAST_CONFIGS=$PWD/configs
search_tables() { # FOLDER OUT
  {
    echo "Written by scripts/search_published.sh: stepcast search TABLE. own plan: the step of the published plan, as forecast,"
    echo "or the memory that it misses; best plan: that of the fastest plan of the space that docs/search.md describes; behind"
    echo "it what settings differ."
    for table in "$1"/*.csv; do
      echo
      basename "$table" .csv
      { "$program" search "$table" || true; } | sed -e 's/; at most [0-9.e+-]* s for a run$//'
    done
  } >"$2.new"
  mv "$2.new" "$2"
}
search_tables scenarios/published docs/search-published.txt
search_tables scenarios/alpa docs/search-alpa.txt
