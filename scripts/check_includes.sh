#!/usr/bin/env bash
# Includes never run upward: a folder may include itself and the folders before it in this list. Only app sees yaml-cpp
# and Boost.Program_options, and JSON is seen by app and by calibrate, which reads profilers' logs. Prints each line that breaks the rule; exit status 1 if there is one.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

order=(sim topology collectives schedules calibrate app)
bad=0
higher=("${order[@]}")
for folder in "${order[@]}"; do
  higher=("${higher[@]:1}")
  [[ -d $folder ]] || continue
  forbidden='^\s*#\s*include\s*"tests/'
  for other in "${higher[@]}"; do forbidden+="|^\\s*#\\s*include\\s*\"$other/"; done
  [[ $folder == app ]] || forbidden+='|^\s*#\s*include\s*<(yaml-cpp|boost/program_options)'
  [[ $folder == app || $folder == calibrate ]] || forbidden+='|^\s*#\s*include\s*<nlohmann'
  if grep -rnE --include='*.h' --include='*.cpp' "$forbidden" "$folder"; then bad=1; fi
done
((bad == 0)) || echo "includes must not run upward: ${order[*]} (see docs on architecture)" >&2
exit "$bad"
