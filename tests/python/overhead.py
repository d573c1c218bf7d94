"""overhead.py RUN_LOOP [COUNT]: processor seconds of COUNT runs from Python, from C++ alone (run_loop.cpp), their ratio.

The two take turns, a tenth of the runs each, so that both see the same machine. Nothing asserts the ratio: the target
python_overhead prints it.
"""

import pathlib
import subprocess
import sys
import time

import stepcast

loop, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
folder = pathlib.Path(__file__).resolve().parents[2] / "scenarios"
for name in ("bert-large.yaml", "quickstart.yaml"):
    file = str(folder / name)
    stepcast.run(file)
    python = program = 0.0
    for _ in range(10):
        program += float(subprocess.run([loop, file, str(count // 10)], capture_output=True, text=True, check=True).stdout)
        start = time.process_time()
        for _ in range(count // 10):
            stepcast.run(file)
        python += time.process_time() - start
    print(f"{name}: {count} runs, Python {python:.3f} s, C++ {program:.3f} s, ratio {python / program:.3f}")
