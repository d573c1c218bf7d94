#!/usr/bin/env bash
# Includes never run upward: a folder may include itself and the folders before it in this list. Only language sees
# yaml-cpp, only app sees Boost.Program_options, and JSON is seen by app, by language, which reads older results, and by
# calibrate, which reads profilers' logs. A file includes its own header first, which so is known to compile alone.
# Prints what breaks a rule; exit status 1 if anything does.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

order=(sim topology collectives workload schedules calibrate language stepcast app)
bad=0
higher=("${order[@]}")
for folder in "${order[@]}"; do
  higher=("${higher[@]:1}")
  [[ -d $folder ]] || continue
  forbidden='^\s*#\s*include\s*"tests/'
  for other in "${higher[@]}"; do forbidden+="|^\\s*#\\s*include\\s*\"$other/"; done
  [[ $folder == language ]] || forbidden+='|^\s*#\s*include\s*<yaml-cpp'
  [[ $folder == app ]] || forbidden+='|^\s*#\s*include\s*<boost/program_options'
  [[ $folder == app || $folder == language || $folder == calibrate ]] || forbidden+='|^\s*#\s*include\s*<nlohmann'
  if grep -rnE --include='*.h' --include='*.cpp' "$forbidden" "$folder"; then bad=1; fi
done
for folder in "${order[@]}"; do
  while IFS= read -r file; do
    own=${file%.cpp}.h
    [[ -f $own ]] || continue
    first=$(grep -m1 -E '^\s*#\s*include' "$file")
    [[ $first == "#include \"$own\"" ]] && continue
    echo "$file: the first include is not $own"
    bad=1
  done < <(find "$folder" -name '*.cpp' | sort)
done
((bad == 0)) || echo "includes must not run upward: ${order[*]} (see docs on architecture)" >&2
exit "$bad"
