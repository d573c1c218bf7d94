#!/usr/bin/env bash
# Type names that mean two things. Prints each name that two struct, class or enum definitions of the code have (not of
# tests); exit status 1 if there is one.
#
# `anywhere` lists names that are defined inside another type and mean "of that type" wherever they stand.
# `known` lists those that are still to be renamed. It only shrinks: a name that no longer has two meanings is an error as
# well.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
exec python3 - <<'PYTHON'
import collections
import pathlib
import re
import sys

rooms = ["sim", "topology", "collectives", "workload", "scenario", "models", "schedules", "calibrate", "search", "language", "stepcast", "app", "python"]
anywhere = {"Iterator", "Kind"}
known = {"Builder", "Flow", "Key", "Problem", "Protocol"}

definition = re.compile(r"^\s*(?:template.*> )?(?:enum|enum class|struct|class) ([A-Z]\w+)(?: final)?(?: : [^;]*)? \{", re.M)
places = collections.defaultdict(list)
for room in rooms:
    for path in sorted(pathlib.Path(room).rglob("*")):
        if path.suffix in (".h", ".cpp", ".cu"):
            text = path.read_text(encoding="utf-8")
            for found in definition.finditer(text):
                places[found[1]].append(f"{path}:{text.count(chr(10), 0, found.start(1)) + 1}")

wrong = 0
for name, where in sorted(places.items()):
    if len(where) > 1 and name not in anywhere | known:
        print(f"{name} means several things: {', '.join(where)}")
        wrong = 1
for name in sorted(known):
    if len(places[name]) < 2:
        print(f"{name} has one meaning now: take it out of `known`")
        wrong = 1
sys.exit(wrong)
PYTHON
