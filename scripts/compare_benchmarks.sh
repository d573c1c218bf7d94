#!/usr/bin/env bash
# compare_benchmarks.sh OLD NEW [ROUNDS [FILTER]]: how much time the benchmarks of two builds take beside each other.
#
# OLD and NEW are build folders (build/release) or stepcast_bench programs; ROUNDS is 5 and FILTER, a regular expression
# of Google Benchmark, everything unless given. In each round both programs run every benchmark, one benchmark after the
# other and in turn first, so that a machine that slows down or is shared slows both. Printed are each benchmark's time in
# both (the median of the rounds) and new / old: the median of the rounds' ratios, the lowest and the highest. A ratio is
# worth believing if lowest and highest are on one side of 1.
#
#   git worktree add ../before main && (cd ../before && cmake --preset release &&
#     cmake --build --preset release --target stepcast_bench)
#   cmake --build --preset release --target stepcast_bench
#   scripts/compare_benchmarks.sh ../before/build/release build/release
set -euo pipefail
if (($# < 2 || $# > 4)); then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
exec python3 - "$@" <<'PYTHON'
import json
import os
import re
import statistics
import subprocess
import sys


def program(path):
    if os.path.isdir(path):
        path = os.path.join(path, "tests", "stepcast_bench")
    if not os.access(path, os.X_OK):
        sys.exit(f"{path}: no program to run; build the target stepcast_bench")
    return os.path.abspath(path)


old, new = program(sys.argv[1]), program(sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
wanted = sys.argv[4] if len(sys.argv) > 4 else "."
if rounds < 1:
    sys.exit("at least one round")


def listed(which):
    out = subprocess.run([which, "--benchmark_list_tests", f"--benchmark_filter={wanted}"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return out.split("\n")[:-1]


def seconds(which, name):
    """One measurement of a benchmark: seconds of wall time an iteration."""
    command = [which, f"--benchmark_filter=^{re.escape(name)}$", "--benchmark_min_time=0.1", "--benchmark_format=json"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    one = json.loads(out)["benchmarks"][0]
    return one["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[one["time_unit"]]


def readable(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


known = set(listed(new))
names = [name for name in listed(old) if name in known]
if not names:
    sys.exit(f"no benchmark in both programs matches {wanted}")
times = {name: {old: [], new: []} for name in names}
if old == new:
    sys.exit("OLD and NEW are one program")
for turn in range(rounds):
    for name in names:
        for which in (old, new) if turn % 2 == 0 else (new, old):
            times[name][which].append(seconds(which, name))

width = max(len("benchmark"), *map(len, names))
print(f"{'benchmark':{width}}  {'old':>9}  {'new':>9}  {'new/old':>8}  {'lowest':>7}  {'highest':>7}")
for name in names:
    ratios = [b / a for a, b in zip(times[name][old], times[name][new])]
    print(f"{name:{width}}  {readable(statistics.median(times[name][old])):>9}  "
          f"{readable(statistics.median(times[name][new])):>9}  {statistics.median(ratios):8.3f}  {min(ratios):7.3f}  "
          f"{max(ratios):7.3f}")
PYTHON
