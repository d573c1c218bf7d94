#!/usr/bin/env bash
# lint.sh [--most N] [BASE]: clang-tidy (.clang-tidy) on the lines that changed since BASE, which is HEAD^ unless given.
# lint.sh --all: on every line of every source file, which takes about ten seconds of a core for each.
#
# Of changed files at most N (4 unless given), those with the most changed lines; what is left out is named. A changed
# header is looked at through the source file beside it. Skipped with one line where clang-tidy is missing (Debian:
# apt-get install clang-tidy). Exit status 1 for findings.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
if ! command -v clang-tidy >/dev/null; then
  echo "lint.sh: skipped: no clang-tidy"
  exit 0
fi
# How each file is compiled by itself: build/release may compile folders at once.
cmake --preset release -B build/alone -D CMAKE_UNITY_BUILD=OFF -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
exec python3 - "$@" <<'PYTHON'
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from multiprocessing.pool import ThreadPool

arguments = sys.argv[1:]
everything = "--all" in arguments
most = int(arguments[arguments.index("--most") + 1]) if "--most" in arguments else 4
bases = [a for i, a in enumerate(arguments) if not a.startswith("--") and arguments[i - 1] != "--most"]
base = bases[0] if bases else "HEAD^"

# As release compiles them, less what clang does not know: one of g++'s warnings.
with open("build/alone/compile_commands.json", encoding="utf-8") as opened:
    commands = json.load(opened)
for one in commands:
    one["command"] = re.sub(r" -Wno-restrict(?= )", "", one["command"])
compiled = {os.path.relpath(one["file"]) for one in commands}
folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder)
with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as written:
    json.dump(commands, written)


def run(sources, changed):
    """How many of them have findings."""
    command = ["clang-tidy", "-p", folder, "--quiet"]
    if changed is not None:
        command.append("--line-filter=" + json.dumps([{"name": path, "lines": lines} for path, lines in changed.items()]))

    def tidy(source):
        return subprocess.run(command + [source], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    failed = 0
    with ThreadPool(int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0)))) as pool:
        for done in pool.imap(tidy, sources):
            sys.stdout.write(done.stdout)
            failed += done.returncode != 0
    return failed


if everything:
    sys.exit(1 if run([source for source in sorted(compiled) if not source.startswith("..")], None) else 0)

changed, path = {}, None  # path: [[first line, last line], ...]
diff = subprocess.run(["git", "diff", "--unified=0", "--no-color", base, "--", "*.h", "*.cpp"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
for line in diff.split("\n"):
    if line.startswith("+++ "):
        path = line[6:] if line.startswith("+++ b/") else None
    elif path and (match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
        first, count = int(match.group(1)), int(match.group(2) or 1)
        if count > 0:
            changed.setdefault(path, []).append([first, first + count - 1])

weights = {}  # source file: changed lines that it shows
for path, lines in changed.items():
    source = re.sub(r"\.h$", ".cpp", path)
    if source in compiled:
        weights[source] = weights.get(source, 0) + sum(last - first + 1 for first, last in lines)
sources = sorted(weights, key=lambda source: (-weights[source], source))
if len(sources) > most:
    print(f"lint.sh: the {most} of {len(sources)} changed files with the most changed lines; not: {' '.join(sources[most:])}")
sys.exit(1 if run(sources[:most], changed) else 0)
PYTHON
