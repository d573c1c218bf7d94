#!/usr/bin/env python3
"""Times kernels as PyTorch runs them, and what the host needs to launch them, into a bundle of stepcast_measure.

pytorch_kernels.csv has the columns of kernels.csv; `by` says whose a kernel is: cudnn, flash_attention_2 and
memory_efficient are what scaled_dot_product_attention is told to use, pytorch is an eager operator, inductor what
torch.compile makes of it. host.csv has what the host takes: launches, operators (eager, compiled, from a CUDA graph),
collectives, checkpoints. Needs torch and a folder that stepcast_measure wrote machine.csv into. Rows that a table has
are not measured again; what a GPU or a release of PyTorch refuses is said and left out.
"""

import argparse
import csv
import os
import statistics
import sys
import time
from contextlib import contextmanager

FIRST = "# stepcast measurement 1"
KERNEL_COLUMNS = """suite kernel by dtype layout batch m n k bytes flops l2 repeats median_s p10_s p90_s clock_mhz power_w
temp_c throttled check max_error""".split()
HOST_COLUMNS = "what by count repeats median_s p10_s p90_s".split()
ATTENTION = {"cudnn": "CUDNN_ATTENTION", "flash_attention_2": "FLASH_ATTENTION", "memory_efficient": "EFFICIENT_ATTENTION"}


class Table:
    """A table of a bundle: rows are appended to NAME.part, and finish() gives it its name and its last line."""

    def __init__(self, folder, name, run, columns, keys):
        self.path, self.keys = os.path.join(folder, name), keys
        self.head = f"{FIRST}\n# run {run}\n{','.join(columns)}\n"
        self.rows = {}
        for path in (self.path, self.path + ".part"):
            if os.path.exists(path):
                with open(path, encoding="ascii") as stream:
                    text = stream.read()
                if not text.startswith(self.head):
                    raise SystemExit(f"{path}: of another run or another form: name another folder with --out")
                # What follows the last end of a line is half a row.
                for row in csv.reader(text[len(self.head):text.rfind("\n") + 1].splitlines()):
                    if row and not row[0].startswith("#") and len(row) == len(columns):
                        self.rows[tuple(row[:keys])] = row
        self._write(self.path + ".part", self.head + self._text())

    def _text(self):
        return "".join(",".join(row) + "\n" for row in self.rows.values())

    @staticmethod
    def _write(path, text):
        with open(path + ".tmp", "w", encoding="ascii") as stream:
            stream.write(text)
        os.replace(path + ".tmp", path)

    def has(self, key):
        return tuple(map(str, key)) in self.rows

    def add(self, key, rest):
        row = [str(cell) for cell in (*key, *rest)]
        self.rows[tuple(row[:self.keys])] = row
        with open(self.path + ".part", "a", encoding="ascii") as stream:
            stream.write(",".join(row) + "\n")

    def finish(self):
        self._write(self.path, self.head + self._text() + f"# end {len(self.rows)}\n")
        os.remove(self.path + ".part")


def run_of(folder):
    """The run that the bundle's machine.csv names."""
    path = os.path.join(folder, "machine.csv")
    if not os.path.exists(path):
        raise SystemExit(f"{path}: not there: stepcast_measure --out {folder} writes it first")
    with open(path, encoding="ascii") as stream:
        lines = stream.read().splitlines()
    if len(lines) < 2 or lines[0] != FIRST or not lines[1].startswith("# run "):
        raise SystemExit(f"{path}: no table of a bundle")
    return lines[1][len("# run "):]


def spread(samples):
    """Cells repeats, median, 10th and 90th percentile."""
    ordered = sorted(samples)
    cuts = statistics.quantiles(ordered, n=10, method="inclusive") if len(ordered) > 1 else ordered * 9
    return [len(ordered)] + [f"{value:.6e}" for value in (statistics.median(ordered), cuts[0], cuts[-1])]


def attention_plan(quick):
    """(batch x heads, sequence, head width), most valuable first."""
    widths = (64, 128) if quick else (64, 128, 96, 80, 256)
    sequences = (1024, 2048, 4096, 8192) if quick else (512, 1024, 2048, 4096, 8192, 16384)
    return [(max((1 << 17) // sequence, 8), sequence, width) for width in widths for sequence in sequences]


def attention_row(by, backward, batch, sequence, width):
    """Cells suite to l2, as stepcast_measure counts bytes and floating-point operations of causal attention."""
    flops = (10.0 if backward else 4.0) * batch * sequence * sequence * width * (sequence + 1) / (2 * sequence)
    return ["attention", "backward" if backward else "forward", by, "bf16", "causal", batch, sequence, sequence, width,
            batch * sequence * width * 2 * (8 if backward else 4), f"{flops:.9e}", "cold"]


# Least traffic of each kernel in bytes of bf16, by rows and columns: calibrate/measure/host/kernel_case.cpp.
def elementwise_bytes(kernel, rows, columns):
    full = rows * columns
    return {
        "layer_norm": 4 * full + 4 * columns + 8 * rows, "layer_norm_backward": 6 * full + 10 * columns + 8 * rows,
        "rms_norm": 4 * full + 2 * columns + 4 * rows, "rms_norm_backward": 6 * full + 6 * columns + 4 * rows,
        "softmax": 4 * full, "softmax_backward": 6 * full, "gelu": 4 * full, "gelu_backward": 6 * full,
        "swiglu": 6 * full, "swiglu_backward": 10 * full, "cross_entropy": 2 * full + 12 * rows,
        "cross_entropy_backward": 4 * full + 8 * rows, "embedding_gather": 4 * full + 4 * rows,
        "embedding_scatter": 10 * full + 4 * rows,
    }[kernel]


def elementwise_plan(quick):
    """(kernel without _backward, rows, columns)."""
    plan = []
    for columns in ((4096,) if quick else (4096, 1024, 8192)):
        for rows in ((8192,) if quick else (8192, 2048)):
            plan += [(kernel, rows, columns) for kernel in ("layer_norm", "rms_norm", "gelu", "swiglu", "softmax", "embedding_gather")]
    return plan + [("cross_entropy", 4096, 50304)]


def backward_of(kernel):
    return "embedding_scatter" if kernel == "embedding_gather" else kernel + "_backward"


def elementwise_row(kernel, by, rows, columns):
    return ["elementwise", kernel, by, "bf16", "-", "-", rows, columns, "-", elementwise_bytes(kernel, rows, columns), "-", "cold"]


class Timer:
    """One call between two events, behind a sleep that lets the host run ahead and a read of twice the L2 cache."""

    def __init__(self, torch):
        self.torch = torch
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.flush = torch.empty(2 * max(l2, 16 << 20) // 4, device="cuda")

    def cold(self, call, repeats=30, before=None):
        torch, samples = self.torch, []
        for i in range(repeats + 3):
            state = before() if before else None
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)  # some 1 ms: more than the host needs for the call
            self.flush.sum()
            begin.record()
            call(state) if before else call()
            end.record()
            torch.cuda.synchronize()
            if i >= 3:
                samples.append(max(begin.elapsed_time(end) * 1e-3, 1e-9))
        return samples


def both_ways(timer, function, inputs, gradient):
    """Samples of a function's forward pass, and of the backward pass of its result."""
    torch = timer.torch
    with torch.no_grad():
        forward = timer.cold(lambda: function(*inputs))
    leaves = [x for x in inputs if x.requires_grad]
    backward = timer.cold(lambda out: torch.autograd.grad(out, leaves, gradient), before=lambda: function(*inputs))
    return forward, backward


def measure_attention(torch, timer, table, quick, say):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for by, name in ATTENTION.items():
        for batch, sequence, width in attention_plan(quick):
            rows = [attention_row(by, way, batch, sequence, width) for way in (False, True)]
            if all(table.has(row) for row in rows):
                continue
            try:
                shape = (1, batch, sequence, width)
                qkv = [torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]

                def attend(q, k, v):
                    with sdpa_kernel([getattr(SDPBackend, name)]):
                        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

                for row, samples in zip(rows, both_ways(timer, attend, qkv, torch.randn_like(qkv[0]))):
                    table.add(row, spread(samples) + ["-", "-", "-", 0, "-", "-"])
            except (RuntimeError, AttributeError) as problem:  # this backend, on this GPU or in this release
                say(f"{by} {batch} x {sequence} x {width}: {str(problem).splitlines()[0]}")


def elementwise_function(torch, kernel, rows, columns):
    """A function, its inputs, and the gradient of its result."""
    F = torch.nn.functional

    def random(*shape):
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    x = random(rows, columns)
    if kernel == "cross_entropy":
        targets = torch.randint(columns, (rows,), device="cuda")
        return lambda a: F.cross_entropy(a, targets), [x], torch.ones((), device="cuda", dtype=torch.bfloat16)
    gradient = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    if kernel == "layer_norm":
        return lambda a, w, b: F.layer_norm(a, (columns,), w, b), [x, random(columns), random(columns)], gradient
    if kernel == "rms_norm":
        return lambda a, w: F.rms_norm(a, (columns,), w), [x, random(columns)], gradient
    if kernel == "swiglu":
        return lambda a, b: F.silu(a) * b, [x, random(rows, columns)], gradient
    if kernel == "embedding_gather":
        ids = torch.randint(50304, (rows,), device="cuda")
        return lambda w: F.embedding(ids, w), [random(50304, columns)], gradient
    one = {"gelu": lambda a: F.gelu(a, approximate="tanh"), "softmax": lambda a: F.softmax(a, dim=-1)}[kernel]
    return one, [x], gradient


def measure_elementwise(torch, timer, table, quick, say):
    for by in ("pytorch", "inductor"):
        for kernel, rows, columns in elementwise_plan(quick):
            keys = [elementwise_row(name, by, rows, columns) for name in (kernel, backward_of(kernel))]
            if all(table.has(key) for key in keys):
                continue
            try:
                function, inputs, gradient = elementwise_function(torch, kernel, rows, columns)
                if by == "inductor":
                    torch._dynamo.reset()
                    function = torch.compile(function, dynamic=False)
                for key, samples in zip(keys, both_ways(timer, function, inputs, gradient)):
                    table.add(key, spread(samples) + ["-", "-", "-", 0, "-", "-"])
            except Exception as problem:  # pylint: disable=broad-except
                say(f"{by} {kernel} {rows} x {columns}: {str(problem).splitlines()[0] if str(problem) else problem!r}")


def host_seconds(torch, call, count, repeats=50):
    """Seconds of the host for one of the `count` launches of a call, while the GPU sleeps so that it never waits."""
    samples = []
    for i in range(repeats + 5):
        torch.cuda.synchronize()
        torch.cuda._sleep(200_000_000)  # some 100 ms: the host is never held up by the queue's other end
        begin = time.perf_counter()
        call()
        taken = time.perf_counter() - begin
        if i >= 5:
            samples.append(max(taken / count, 1e-9))
    torch.cuda.synchronize()
    return samples


def launches_of(torch, call):
    """Kernels that a call launches, by PyTorch's profiler."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    kernels = [event for event in seen.events() if "Memcpy" not in event.name and "Memset" not in event.name]
    return max(len(kernels), 1)


@contextmanager
def one_rank(torch):
    """A process group of this process alone: what the host does for a collective does not depend on the others."""
    dist = torch.distributed
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=0, world_size=1)
    try:
        yield dist
    finally:
        dist.destroy_process_group()


def measure_host(torch, table, say):
    nn = torch.nn
    small = torch.zeros(64, device="cuda")

    def add(what, by, count, samples):
        table.add([what, by, count], spread(samples))

    def latency():
        torch.cuda.synchronize()
        begin = time.perf_counter()
        small.add_(1)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    if not table.has(["launch_latency", "pytorch", 1]):
        add("launch_latency", "pytorch", 1, [latency() for _ in range(220)][20:])
    if not table.has(["launch_throughput", "pytorch", 500]):
        add("launch_throughput", "pytorch", 500, host_seconds(torch, lambda: [small.add_(1) for _ in range(500)], 500))

    # Layers so small that the host alone takes time: norms, linear layers, attention, activation.
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True, device="cuda").train()
    x = torch.randn(2, 16, 64, device="cuda", requires_grad=True)

    def step(module):
        return lambda: [module(x).sum().backward() for _ in range(4)]

    for by, module in (("pytorch", layer), ("inductor", torch.compile(layer))):
        try:
            call = step(module)
            call()
            count = launches_of(torch, call)
            add("operator", by, count, host_seconds(torch, call, count, 20))
        except Exception as problem:  # pylint: disable=broad-except
            say(f"operators by {by}: {problem}")
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph):
            for _ in range(4):
                layer(x)
        count = launches_of(torch, graph.replay)
        add("operator", "graph", count, host_seconds(torch, graph.replay, count, 20))
    except Exception as problem:  # pylint: disable=broad-except
        say(f"operators from a graph: {problem}")

    from torch.utils.checkpoint import checkpoint
    identity = nn.Identity()
    call = lambda: [checkpoint(identity, x, use_reentrant=False) for _ in range(50)]
    add("checkpoint", "pytorch", 50, host_seconds(torch, call, 50))
    try:
        with one_rank(torch) as dist:
            dist.all_reduce(small)
            add("collective", "pytorch", 50, host_seconds(torch, lambda: [dist.all_reduce(small) for _ in range(50)], 50))
    except Exception as problem:  # pylint: disable=broad-except
        say(f"collectives: {problem}")


def main(words=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="the bundle: a folder with machine.csv")
    parser.add_argument("--quick", action="store_true", help="what a fit cannot do without")
    parser.add_argument("--list", action="store_true", help="print what would be measured; needs no GPU, no torch")
    options = parser.parse_args(words)
    if options.list:
        for by in ATTENTION:
            for shape in attention_plan(options.quick):
                print(*attention_row(by, False, *shape)[:9], sep=",")
        for by in ("pytorch", "inductor"):
            for shape in elementwise_plan(options.quick):
                print(*elementwise_row(shape[0], by, *shape[1:])[:9], sep=",")
        return 0
    run = run_of(options.out)
    import torch

    def say(line):
        print(f"measure_pytorch_kernels.py: not measured: {line}", file=sys.stderr, flush=True)

    if not torch.cuda.is_available():
        print("measure_pytorch_kernels.py: no GPU here", file=sys.stderr)
        return 4
    host = Table(options.out, "host.csv", run, HOST_COLUMNS, 3)
    measure_host(torch, host, say)
    host.finish()
    kernels = Table(options.out, "pytorch_kernels.csv", run, KERNEL_COLUMNS, 12)
    timer = Timer(torch)
    measure_attention(torch, timer, kernels, options.quick, say)
    measure_elementwise(torch, timer, kernels, options.quick, say)
    kernels.finish()
    return 0


if __name__ == "__main__":
    sys.exit(main())
