#!/usr/bin/env bash
# layouts_alpa.sh [PROGRAM]: for every plan that Alpa found and its authors publish (scenarios/alpa/stages.txt) what it takes
# with the best operator splits that it leaves open, beside the best stages of all, to docs/layouts-alpa.txt. A minute of
# one core. Run it when the model or the layouts changed.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
export STEPCAST_CONFIGS=$PWD/configs
python3 - "${1:-build/release/stepcast}" >docs/layouts-alpa.txt.new <<'PYTHON'
import json
import re
import subprocess
import sys

GIB = 2**30


def layouts(scenario, settings, *options):
    words = [sys.argv[1], "layouts", f"scenarios/alpa/{scenario}", "--format", "json", *options]
    for setting in settings:
        words += ["--set", setting]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}")
    return json.loads(done.stdout)


def step(answer):
    if answer["step_time_s"] is not None:
        return f"{answer['step_time_s']:.1f} s"
    if not answer["shortages"]:
        return "nothing fits"
    worst = max(answer["shortages"], key=lambda one: one["missing_bytes"])
    return f"misses {worst['missing_bytes'] / GIB:.2f} GiB"


def simulated(answer):
    nearest = answer["nearest_plan"]
    return "-" if nearest is None else f"{nearest['step_time_s']:.1f} s" + ("" if nearest["fits"] else " *")


def gain(held, found):
    if held["step_time_s"] is None or found["step_time_s"] is None:
        return "-"
    return f"{100 * (found['step_time_s'] / held['step_time_s'] - 1):.1f}%"


def in_short(stages):
    """Stages that follow each other and are alike once: 3 x 4:8:1x8."""
    words, out = stages.split(","), []
    for word in words:
        if out and out[-1][1] == word:
            out[-1][0] += 1
        else:
            out.append([1, word])
    return " ".join(word if count == 1 else f"{count}x({word})" for count, word in out)


rows = []
for line in open("scenarios/alpa/stages.txt", encoding="utf-8"):
    words = line.split("#")[0].split()
    if not words:
        continue
    name, scenario, _, stages, *settings = words
    cut = re.sub(r"(\d+:\d+)[^,]*", r"\1", stages)
    held, open_meshes, found = (layouts(scenario, settings, *options) for options in
                                (["--stages", stages], ["--stages", cut], ["--groups", "96"]))
    best = ",".join(f"{one['layers']}:{one['gpus']}:{one['mesh']}" for one in found["stages"]) or "-"
    rows.append([name, str(found["gpus"]), step(held), simulated(held), step(open_meshes), step(found), simulated(found),
                 gain(held, found), gain(open_meshes, found), in_short(stages), in_short(best)])

titles = ["name", "GPUs", "published", "simulated", "its cut", "found", "simulated", "gain", "of cut", "published stages",
          "found stages"]
widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
print("Written by scripts/layouts_alpa.sh: stepcast layouts for each line of scenarios/alpa/stages.txt. published: the step with\n"
      "Alpa's stages, their meshes, and samples shared where it says so, each operator otherwise split in the best way; its cut:\n"
      "with its layers and GPUs of each stage alone; found: the best stages of all, with gain over the one and over the other.\n"
      "misses: what a GPU of the fullest stage lacks whatever the layouts. simulated: the nearest plan that a scenario can say,\n"
      "where there is one; *: which does not fit. Stages: LAYERS:GPUS[:AxB[:samples]], docs/layouts.md.\n")
for row in [titles, *rows]:
    print("  ".join(word.ljust(width) if i in (0, 9, 10) else word.rjust(width)
                    for i, (word, width) in enumerate(zip(row, widths))).rstrip())
PYTHON
mv docs/layouts-alpa.txt.new docs/layouts-alpa.txt
