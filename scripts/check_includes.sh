#!/usr/bin/env bash
# What includes what, and how large one thing may be. Prints what breaks a rule; exit status 1 if anything does.
#
# - Includes never run upward: a folder of the first level may include itself and the folders before it in `rooms`.
# - Only language sees yaml-cpp, only app Boost.Program_options; JSON is seen by app, by language, which reads older
#   results, and by calibrate, which reads profilers' logs.
# - A file includes its own header first, which so is known to compile alone.
# - No two folders, of whatever depth, include each other. A folder and its sub-folder are two folders like any others:
#   either the files at the top use the sub-folder (app/commands/run.cpp uses app/report/), or the sub-folder uses the
#   files at the top (topology/node_builders/ uses topology/node_builders.h, whose list names its items as `extern`), but not both.
# - No circle of files: x.h and x.cpp count as one.
# - A header that more than 15 files include holds one concept. Those that do are listed with it in `concepts`.
# - A private header is included in its own folder alone.
# - No function is longer than 80 lines, but tables.
#
# What breaks a rule and is known to stands in the lists of exceptions below. They only shrink: an exception that nothing
# needs any more is an error as well.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
exec python3 - <<'PYTHON'
import collections
import os
import re
import sys

rooms = ["sim", "topology", "collectives", "workload", "scenario", "models", "schedules", "calibrate", "search", "language", "stepcast", "app", "python"]
private = {"topology/cluster_parts.h": "topology"}
only_in = {
    "yaml-cpp": ["language"],
    "boost/program_options": ["app"],
    "nlohmann": ["app", "language", "calibrate"],
}
most_includers = 15
most_lines = 80

# Headers that more than 15 files include, with the one concept that each holds.
concepts = {
    "sim/input_error.h": "an error in what the user wrote",
    "sim/in_quotes.h": "a found text as messages show it",
    "sim/units.h": "time, bytes and rates as types",
    "sim/units_text.h": "those types as text, and back",
    "topology/spec.h": "a machine and what joins it, as files say it",
    "language/core/schema.h": "the keys of a block",
    "topology/cluster.h": "a cluster and what can be asked of it",
    "collectives/algorithm.h": "one way to do a collective",
    "collectives/operation.h": "the collectives, as nccl-tests counts them",
    "collectives/timing/timer.h": "what collectives take on one cluster",
    "workload/machines.h": "machines by their specification, kept for who asks again",
    "scenario/scenario.h": "a question: what a scenario file says",
    "models/layers/writer.h": "operators of a layer as they are written down",
    "models/layers/as_double.h": "a count in products of floating-point numbers",
    "models/layers/blocks.h": "a model as a list of blocks",
    "schedules/forecast.h": "forecasting a scenario on a machine",
    "calibrate/in_parallel.h": "calling something in parallel",
    "schedules/parallel/ranks.h": "where every rank stands, and who is in a group with it",
    "schedules/pipeline/placement.h": "where in a pipeline each chunk of the model is",
    "schedules/results/results.h": "what a forecast answers",
    "app/status_line.h": "what a command at work says on standard error",
    "language/configs/files.h": "the tables of the files of configs/",
    "app/named_files.h": "files that a command reads and writes, no two of them one",
    "app/command.h": "a subcommand and its exit status",
    "app/options.h": "the words of a subcommand",
    "app/output.h": "writing files",
    "app/report/json_text.h": "JSON as it is written",
    "app/report/text_table.h": "a table for people or programs",
    "language/configs/config_folders.h": "where files of configs are",
    "language/core/nearest.h": "the allowed name that is nearest to a found one",
    "language/core/library.h": "the library of configs",
    "language/core/tree.h": "what was written, as a tree",
    "language/scenario.h": "the keys of a scenario, and what a tree of them says",
    "language/core/type.h": "what may stand behind a key, and a complaint about what does",
    "language/core/read_mapping.h": "a mapping read by a table of keys",
    "language/core/streams.h": "files that are no files: standard input, pipes, descriptors",
    "language/core/file_text.h": "the text of a file",
    "language/core/visible_text.h": "a text without control characters",
}

# Exceptions: headers that more than 15 files include though they hold more than one concept.
wide = set()

# Exceptions: pairs of folders that include each other.
both_ways = set()

# Exceptions: units (x.h and x.cpp) that stand in a circle.
circular = set()

# Exceptions: functions that are longer and no tables.
long_functions = set()

# Functions that are tables: one entry after the other, and nothing else.
tables = {
    "language/configs/model.cpp": "model_table",
    "language/configs/node.cpp": "node_table",
    "language/frameworks/tables/megatron.cpp": "megatron_rows",
    "language/frameworks/tables/megatron_bridge.cpp": "bridge_rows",
    "language/frameworks/tables/nemo.cpp": "nemo_rows",
    "language/frameworks/tables/torchtitan.cpp": "torchtitan_rows",
    "language/scenario.cpp": "scenario_table",
    "language/configs/software.cpp": "software_table",
}

found = []


def complain(text):
    found.append(text)


def compare(kind, breaking, excepted):
    """What breaks a rule, beside the exceptions that there are."""
    for one in sorted(breaking - excepted):
        complain(f"{kind}: {one if isinstance(one, str) else ' and '.join(one)}")
    for one in sorted(excepted - breaking):
        name = one if isinstance(one, str) else " and ".join(one)
        complain(f"{kind}: {name} is an exception that nothing needs; take it from the list in scripts/check_includes.sh")


files = {}  # path: lines
for room in rooms:
    for folder, _, names in os.walk(room):
        for name in names:
            if name.endswith((".h", ".cpp", ".cu", ".cuh")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as opened:
                    files[path] = opened.read().split("\n")

including = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
includes, system = {}, {}
for path, lines in files.items():
    matches = [m for m in map(including.match, lines) if m]
    includes[path] = [m.group(1) for m in matches if m.group(1)]
    system[path] = [m.group(2) for m in matches if m.group(2)]
    own = re.sub(r"\.\w+$", ".h", path)
    if path.endswith(".cpp") and own in files and matches[0].group(1) != own:
        complain(f"{path}: the first include is not {own}")

for path in sorted(files):
    room = path.split("/")[0]
    for other in includes[path]:
        above = other.split("/")[0]
        if above == "tests" or above in rooms and rooms.index(above) > rooms.index(room):
            complain(f"{path}: includes {other}, which runs upward: {' '.join(rooms)} (docs/architecture.md)")
        if other in private and not path.startswith(private[other] + "/"):
            complain(f"{path}: includes {other}, which is for {private[other]}/ alone")
    for other in system[path]:
        for library, allowed in only_in.items():
            if other.startswith(library) and room not in allowed:
                complain(f"{path}: includes <{other}>, which is for {' and '.join(allowed)} alone")


def circles(edges):
    """Every node that can be reached from itself (Tarjan's strongly connected components)."""
    number, low, stack, inside = {}, {}, [], set()

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for after in sorted(edges.get(node, ())):
            if after not in number:
                visit(after)
            if after not in placed:
                low[node] = min(low[node], low[after])
        if low[node] == number[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
                placed.add(component[-1])
            if len(component) > 1:
                inside.update(component)

    placed = set()
    sys.setrecursionlimit(100000)
    for node in sorted(edges):
        if node not in number:
            visit(node)
    return inside


def unit(path):
    return os.path.splitext(path)[0]


units, folders = collections.defaultdict(set), collections.defaultdict(set)
includers = collections.Counter()
for path in files:
    for other in set(includes[path]) & files.keys():
        includers[other] += 1
        if unit(other) != unit(path):
            units[unit(path)].add(unit(other))
        if os.path.dirname(other) != os.path.dirname(path):
            folders[os.path.dirname(path)].add(os.path.dirname(other))

pairs = {(a, b) for a in folders for b in folders[a] if a < b and a in folders.get(b, ())}
compare("folders include each other", pairs, both_ways)
compare("files in a circle", circles(units), circular)

popular = {header for header, count in includers.items() if count > most_includers}
for header in sorted(popular - wide - concepts.keys()):
    complain(f"{header}: more than {most_includers} files include it; if it holds one concept, name that in `concepts`")
for header in sorted(concepts.keys() - popular):
    complain(f"{header}: no more than {most_includers} files include it; take it from `concepts`")
compare("many include a header of several concepts", popular & wide, wide)

# The layout of clang-format: a function begins with lines of which the last ends with `{`, and ends with the next `}` as
# far left as the first.
other_block = re.compile(r"\s*(if|for|while|switch|else|do|try|catch|case|default|return|namespace|struct|class|enum|union)\b|\s*}")
ends_statement = re.compile(r"(^\s*$|^\s*#|^\s*//|[;{}:]\s*(//.*)?$)")


def opening(lines, last):
    """The line on which the function begins whose body the last of its lines opens, and these lines as one; or nothing."""
    line = lines[last]
    if not line.endswith("{") or other_block.match(line):
        return None
    if "(" in line or "->" in line:
        return last, line
    first = last
    while first > 0 and not ends_statement.search(lines[first - 1]):
        first -= 1
    text = " ".join(part.strip() for part in lines[first : last + 1])
    if "(" not in text or text.count("(") != text.count(")") or other_block.match(text):
        return None
    return first, text


unused_tables = dict(tables)
long_ones = set()
for path, lines in sorted(files.items()):
    for at in range(len(lines)):
        found_opening = opening(lines, at)
        if found_opening is None:
            continue
        first, line = found_opening
        left = len(lines[first]) - len(lines[first].lstrip())
        last = at + 1
        while last < len(lines) and not re.match(r"\s{0,%d}}" % left, lines[last]):
            last += 1
        if last - first + 1 <= most_lines:
            continue
        if path in tables and tables[path] + "(" in line:
            unused_tables.pop(path, None)
            continue
        known = [one for one in long_functions if one.startswith(path + ": ") and one.split(": ")[1] + "(" in line]
        long_ones.update(known or [f"{path}:{first + 1}: {last - first + 1} lines of {most_lines}: {line.strip()}"])
compare("too long a function", long_ones, long_functions)
for path, table in unused_tables.items():
    complain(f"{path}: {table} is no longer a table of more than {most_lines} lines; take it from `tables`")

for text in found:
    print(text)
sys.exit(1 if found else 0)
PYTHON
