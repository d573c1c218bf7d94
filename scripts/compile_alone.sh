#!/usr/bin/env bash
# compile_alone.sh [BASE]: each source file that changed since BASE (HEAD^ unless given), or whose header did, compiles by
# itself. scripts/test.sh compiles the files of a folder as one (cmake/Stepcast.cmake), where a file that lacks an
# #include has that of the file before it. Exit status 1 if one does not compile.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
cmake --preset release -B build/alone -D CMAKE_UNITY_BUILD=OFF -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
exec python3 - "${1:-HEAD^}" <<'PYTHON'
import json
import os
import re
import subprocess
import sys
from multiprocessing.pool import ThreadPool

diff = subprocess.run(["git", "diff", "--name-only", sys.argv[1], "--", "*.h", "*.cpp"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
changed = {re.sub(r"\.h$", ".cpp", path) for path in diff.split()}
with open("build/alone/compile_commands.json", encoding="utf-8") as opened:
    commands = {os.path.relpath(one["file"]): one for one in json.load(opened)}


def fails(path):
    command = re.sub(r" -o \S+", " -fsyntax-only", commands[path]["command"])
    return subprocess.run(command, shell=True, cwd=commands[path]["directory"], check=False).returncode != 0


with ThreadPool(int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0)))) as pool:
    failed = sum(pool.map(fails, sorted(changed & commands.keys()), chunksize=1))
print(f"compile_alone.sh: {len(changed & commands.keys())} files")
sys.exit(failed > 0)
PYTHON
