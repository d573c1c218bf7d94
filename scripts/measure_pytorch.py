#!/usr/bin/env python3
"""Times real PyTorch training steps and writes runs tables that `stepcast validate` puts beside its predictions.

Needs torch alone. One process measures one GPU; under torchrun every process has a GPU and the steps are data-parallel
(DDP, FSDP). Weights are fp32, arithmetic is bf16 under autocast (fp16 with loss scaling before Ampere), the optimizer is
fused AdamW (SGD with momentum for ResNet-50). Inputs are random and on the GPU: no loader is measured. Peak memory is
what PyTorch allocated, not what its cache reserved. Rows that a table already holds are not measured again.
"""

import argparse
import csv
import gc
import os
import re
import statistics
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

COLUMNS = """name source confidence note cluster.node cluster.gpus model.base model.family model.layers model.hidden
model.heads model.kv_heads model.ffn model.vocab training.global_batch training.micro_batch training.sequence
training.precision training.optimizer training.attention parallelism.data data_parallel.zero data_parallel.overlap
data_parallel.gradient_precision recompute software measured.step_time measured.peak_memory""".split()


@dataclass(frozen=True)
class Run:
    family: str  # gpt, llama, bert, cnn
    shape: str  # of SHAPES
    batch: int  # samples of one micro-batch
    accumulate: int = 1  # micro-batches of a step
    sequence: int = 0
    compiled: bool = False
    recompute: bool = False
    parallel: str = ""  # ddp, fsdp; "" on one GPU
    tf32: bool = False  # fp32 with tf32 multiplies; else bf16 (fp16 before Ampere) under autocast

    def name(self, gpus: int) -> str:
        parts = [self.shape, f"b{self.batch}x{self.accumulate}"]
        parts += [f"s{self.sequence}"] if self.sequence else []
        parts += ["full"] if self.recompute else []
        parts += ["tf32"] if self.tf32 else []
        parts += [f"{self.parallel}{gpus}"] if self.parallel else []
        return "-".join(parts + ["compiled" if self.compiled else "eager"])


@dataclass(frozen=True)
class Shape:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int


SHAPES = {
    "gpt-125m": Shape(12, 768, 12, 12, 3072, 50304),
    "gpt-350m": Shape(24, 1024, 16, 16, 4096, 50304),
    "gpt-1.3b": Shape(24, 2048, 16, 16, 8192, 50304),
    "gpt-2.7b-l16": Shape(16, 2560, 32, 32, 10240, 50304),
    "gpt-6.7b-l8": Shape(8, 4096, 32, 32, 16384, 50304),
    "llama2-7b-l8": Shape(8, 4096, 32, 32, 11008, 32000),
    "llama3-8b-l6": Shape(6, 4096, 32, 8, 14336, 128256),
    "llama3-70b-l2": Shape(2, 8192, 64, 8, 28672, 128256),
    "gpt-760m-h80": Shape(24, 1280, 16, 16, 5120, 50304),  # heads of 80, as no kernel is compiled for
    "gpt-1b-h96": Shape(20, 1920, 20, 20, 7680, 50304),
    "gpt-odd": Shape(12, 1000, 10, 10, 4000, 50257),  # sizes that no tile divides
    "llama-1b-h64": Shape(16, 2048, 32, 8, 8192, 128256),
    "vit-like": Shape(24, 1024, 16, 16, 4096, 1024),  # the encoder of ViT-L, on tokens
    "bert-base": Shape(12, 768, 12, 12, 3072, 30522),
    "bert-large": Shape(24, 1024, 16, 16, 4096, 30522),
}


class RmsNorm(nn.Module):
    def __init__(self, hidden: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight).to(x.dtype)


def rotated(x, angles):
    """Rotary positions: pairs (i, i + half) of each head vector turn by the row's angle."""
    a, b = x.float().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, s: Shape, bias: bool, causal: bool, rotary: bool):
        super().__init__()
        self.heads, self.kv_heads, self.size = s.heads, s.kv_heads, s.hidden // s.heads
        self.causal, self.rotary = causal, rotary
        self.qkv = nn.Linear(s.hidden, (s.heads + 2 * s.kv_heads) * self.size, bias=bias)
        self.out = nn.Linear(s.hidden, s.hidden, bias=bias)

    def forward(self, x, angles):
        batch, rows, hidden = x.shape
        sizes = [n * self.size for n in (self.heads, self.kv_heads, self.kv_heads)]
        q, k, v = (part.view(batch, rows, -1, self.size).transpose(1, 2) for part in self.qkv(x).split(sizes, dim=-1))
        if self.rotary:
            q, k = rotated(q, angles), rotated(k, angles)
        if self.kv_heads != self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, rows, hidden))


class Mlp(nn.Module):
    def __init__(self, s: Shape, gated: bool):
        super().__init__()
        self.gated = gated
        self.up = nn.Linear(s.hidden, (2 if gated else 1) * s.ffn, bias=not gated)
        self.down = nn.Linear(s.ffn, s.hidden, bias=not gated)

    def forward(self, x):
        if self.gated:
            gate, up = self.up(x).chunk(2, dim=-1)
            return self.down(F.silu(gate) * up)
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, s: Shape, family: str):
        super().__init__()
        llama = family == "llama"
        norm = RmsNorm if llama else nn.LayerNorm
        self.before = family != "bert"  # BERT norms after each residual
        self.norm1, self.norm2 = norm(s.hidden), norm(s.hidden)
        self.attention = Attention(s, bias=not llama, causal=self.before, rotary=llama)
        self.mlp = Mlp(s, gated=llama)

    def forward(self, x, angles):
        if self.before:
            x = x + self.attention(self.norm1(x), angles)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attention(x, angles))
        return self.norm2(x + self.mlp(x))


class Transformer(nn.Module):
    """GPT (learned positions, tied head), Llama (rotary, untied head) or BERT (masked language model, tied head)."""

    def __init__(self, s: Shape, run: Run):
        super().__init__()
        self.recompute = run.recompute
        self.embedding = nn.Embedding(s.vocab, s.hidden)
        self.positions = None if run.family == "llama" else nn.Embedding(run.sequence, s.hidden)
        self.blocks = nn.ModuleList(Block(s, run.family) for _ in range(s.layers))
        self.norm = RmsNorm(s.hidden) if run.family == "llama" else nn.LayerNorm(s.hidden)
        self.head = nn.Linear(s.hidden, s.vocab, bias=False)
        if run.family != "llama":
            self.head.weight = self.embedding.weight
        half = s.hidden // s.heads // 2
        rates = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
        angles = torch.outer(torch.arange(run.sequence, dtype=torch.float32), rates)
        self.register_buffer("angles", angles, persistent=False)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            if self.recompute:
                x = checkpoint(block, x, self.angles, use_reentrant=False)
            else:
                x = block(x, self.angles)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != out:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


class ResNet50(nn.Module):
    """He et al. 2015 (arXiv 1512.03385), table 1, stride in the 3 x 3 convolution as torchvision has it."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
            for block in range(blocks):
                layers.append(Bottleneck(inputs, width, 2 if block == 0 and stage > 0 else 1))
                inputs = 4 * width
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

    def forward(self, images, labels):
        return F.cross_entropy(self.layers(images), labels)


def make_model(run: Run) -> nn.Module:
    if run.family != "cnn":
        return Transformer(SHAPES[run.shape], run)
    try:
        from torchvision.models import resnet50  # what users run, where it is there
    except Exception:  # a torchvision that does not fit this torch raises other things than ImportError
        return ResNet50()

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = resnet50(weights=None)

        def forward(self, images, labels):
            return F.cross_entropy(self.net(images), labels)

    return Classifier()


def make_batch(run: Run, device):
    if run.family == "cnn":
        images = torch.randn(run.batch, 3, 224, 224, device=device).contiguous(memory_format=torch.channels_last)
        return images, torch.randint(1000, (run.batch,), device=device)
    shape, vocab = (run.batch, run.sequence), SHAPES[run.shape].vocab
    return torch.randint(vocab, shape, device=device), torch.randint(vocab, shape, device=device)


def sharded(model: nn.Module, device) -> nn.Module:
    """FSDP over all ranks, a unit of sharding per block."""
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

    policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block, Bottleneck})
    mixed = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
    return FullyShardedDataParallel(model, auto_wrap_policy=policy, mixed_precision=mixed, device_id=device,
                                    use_orig_params=True)


def measure(run: Run, device, steps: int, half) -> dict:
    """Median, 10th and 90th percentile of a step in seconds, and the peak of allocated bytes."""
    torch.manual_seed(1)
    torch.cuda.reset_peak_memory_stats(device)
    model = make_model(run).to(device)
    if run.family == "cnn":
        model = model.to(memory_format=torch.channels_last)
    if run.parallel == "ddp":
        model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index], gradient_as_bucket_view=True)
    elif run.parallel == "fsdp":
        model = sharded(model, device)
    stepped = torch.compile(model) if run.compiled else model
    if run.family == "cnn":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, foreach=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler("cuda", enabled=half is torch.float16 and not run.tf32)
    batch = make_batch(run, device)

    def one_step():
        for i in range(run.accumulate):
            last = i + 1 == run.accumulate
            with nullcontext() if last or not run.parallel else model.no_sync():
                with nullcontext() if run.tf32 else torch.autocast("cuda", dtype=half):
                    loss = stepped(*batch)
                scaler.scale(loss / run.accumulate).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(5):  # compiles, chooses kernels, makes the optimizer's state
        one_step()
    torch.cuda.synchronize(device)
    samples = []
    for _ in range(steps):
        if dist.is_initialized():
            dist.barrier()
            torch.cuda.synchronize(device)
        begin = time.perf_counter()
        one_step()
        torch.cuda.synchronize(device)
        samples.append(time.perf_counter() - begin)
    peak = torch.cuda.max_memory_allocated(device)
    if dist.is_initialized():
        worst = torch.tensor([float(peak)] + samples, device=device, dtype=torch.float64)
        dist.all_reduce(worst, op=dist.ReduceOp.MAX)
        peak, samples = int(worst[0].item()), worst[1:].tolist()
    cuts = statistics.quantiles(samples, n=10)
    return {"step": statistics.median(samples), "p10": cuts[0], "p90": cuts[-1], "peak": peak}


def plan(parallel: bool, quick: bool) -> list:
    """Most valuable first: eager before compiled."""
    transformers = [
        Run("gpt", "gpt-125m", 8, 1, 1024), Run("gpt", "gpt-350m", 8, 1, 1024), Run("gpt", "gpt-1.3b", 4, 1, 2048),
        Run("llama", "llama2-7b-l8", 1, 1, 4096), Run("bert", "bert-large", 16, 1, 512),
        Run("gpt", "gpt-350m", 16, 1, 1024), Run("gpt", "gpt-350m", 4, 4, 1024), Run("gpt", "gpt-1.3b", 2, 4, 2048),
        Run("gpt", "gpt-1.3b", 8, 1, 2048, recompute=True), Run("gpt", "gpt-2.7b-l16", 4, 1, 2048),
        Run("gpt", "gpt-6.7b-l8", 4, 1, 2048), Run("gpt", "gpt-6.7b-l8", 2, 1, 4096),
        Run("llama", "llama2-7b-l8", 2, 1, 4096), Run("llama", "llama2-7b-l8", 4, 1, 2048),
        Run("llama", "llama3-8b-l6", 1, 1, 8192), Run("llama", "llama3-8b-l6", 2, 1, 4096, recompute=True),
        Run("llama", "llama3-70b-l2", 1, 1, 4096), Run("bert", "bert-base", 32, 1, 512),
        Run("gpt", "gpt-760m-h80", 4, 1, 2048), Run("gpt", "gpt-1b-h96", 4, 1, 2048), Run("gpt", "gpt-odd", 8, 1, 1024),
        Run("llama", "llama-1b-h64", 1, 1, 16384), Run("llama", "llama-1b-h64", 1, 1, 32768, recompute=True),
        Run("gpt", "gpt-350m", 32, 1, 512), Run("gpt", "gpt-350m", 1, 1, 1024), Run("bert", "vit-like", 32, 1, 576),
        Run("gpt", "gpt-350m", 8, 1, 1024, tf32=True), Run("gpt", "gpt-1.3b", 2, 1, 2048, tf32=True),
    ]
    images = [Run("cnn", "resnet-50", batch) for batch in (128, 256, 64, 32)]
    runs = transformers[:5] + images[:1] + ([] if quick else transformers[5:] + images[1:])
    if parallel:
        spread = [replace(run, parallel="ddp") for run in runs]
        runs = spread + [replace(run, parallel="fsdp") for run in runs if run.family != "cnn"]
    return [replace(run, compiled=compiled) for compiled in (False, True) for run in runs]


def node_named(gpu: str) -> str:
    for part, node in (("H200", "dgx-h200"), ("H100", "dgx-h100"), ("GB200", "gb200-nvl72"), ("B200", "dgx-b200"),
                       ("A100-SXM4-80GB", "dgx-a100-80gb"), ("A100-SXM4-40GB", "dgx-a100-40gb"),
                       ("V100-SXM2-32GB", "dgx-1-v100-32gb"), ("V100-SXM2-16GB", "dgx-1-v100-16gb")):
        if part in gpu:
            return node
    return ""


def row_of(run: Run, result: dict, gpus: int, gpu: str, precision: str, software: str) -> dict:
    row = dict.fromkeys(COLUMNS, "")
    precision = "tf32" if run.tf32 else precision
    weights = "fp32" if run.tf32 else "bf16 gathered from fp32 shards" if run.parallel == "fsdp" else f"fp32 under {precision} autocast"
    row.update({
        "name": run.name(gpus),
        "source": f"scripts/measure_pytorch.py; torch {torch.__version__}; CUDA {torch.version.cuda}; {gpu}",
        "confidence": "stated",
        "note": f"{'torch.compile' if run.compiled else 'eager'}; weights {weights}; random inputs on the GPU; "
                f"p10 {result['p10']:.6g} s; p90 {result['p90']:.6g} s",
        "cluster.node": node_named(gpu),
        "cluster.gpus": gpus,
        "training.global_batch": run.batch * run.accumulate * gpus,
        "training.micro_batch": run.batch,
        "training.precision": precision,
        "training.optimizer": "momentum" if run.family == "cnn" else "adam",
        "parallelism.data": gpus,
        "data_parallel.zero": 3 if run.parallel == "fsdp" else 0,
        "data_parallel.gradient_precision": "bf16" if run.parallel == "fsdp" else "fp32",
        "recompute": "full" if run.recompute else "none",
        "software": software,
        "measured.step_time": f"{result['step']:.6g} s",
        "measured.peak_memory": f"{result['peak']} B",
    })
    if run.parallel:
        row["data_parallel.overlap"] = "true"
    if run.family == "cnn":
        row["model.base"] = run.shape
        return row
    s = SHAPES[run.shape]
    row.update({"model.family": run.family, "model.layers": s.layers, "model.hidden": s.hidden, "model.heads": s.heads,
                "model.kv_heads": s.kv_heads, "model.ffn": s.ffn, "model.vocab": s.vocab,
                "training.sequence": run.sequence, "training.attention": "flash"})
    return row


def read_rows(path: str) -> list:
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write_rows(path: str, rows: list) -> None:
    with open(path + ".tmp", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(path + ".tmp", path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for the runs tables, pytorch_FAMILY.csv")
    parser.add_argument("--quick", action="store_true", help="six shapes")
    parser.add_argument("--only", default="", help="regular expression: rows whose names it finds")
    parser.add_argument("--mode", choices=("eager", "compiled", "both"), default="both")
    parser.add_argument("--steps", type=int, default=20, help="timed steps of each row (20)")
    parser.add_argument("--software", default="", help="what to write in the column software, a file of configs/software/")
    parser.add_argument("--time-limit", type=float, default=0, help="begin no row later than so many seconds from now")
    parser.add_argument("--list", action="store_true", help="print the names of the rows; needs no GPU")
    options = parser.parse_args()
    if options.steps < 2:
        parser.error("--steps: at least 2")

    gpus, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    runs = [run for run in plan(gpus > 1, options.quick)
            if re.search(options.only, run.name(gpus)) and options.mode in ("both", "compiled" if run.compiled else "eager")]
    if options.list:
        print("\n".join(run.name(gpus) for run in runs))
        return 0
    if not torch.cuda.is_available():
        print("measure_pytorch.py: no GPU here", file=sys.stderr)
        return 4
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    if gpus > 1:
        dist.init_process_group("nccl", device_id=device)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    half = torch.bfloat16 if torch.cuda.get_device_capability(device)[0] >= 8 else torch.float16
    precision = "bf16" if half is torch.bfloat16 else "fp16"
    gpu = torch.cuda.get_device_name(device)
    os.makedirs(options.out, exist_ok=True)

    missing, begun = 0, time.monotonic()
    for number, run in enumerate(runs, 1):
        path, name = os.path.join(options.out, f"pytorch_{run.family}.csv"), run.name(gpus)
        # The first rank reads the table and decides for all.
        done = [rank == 0 and any(row["name"] == name for row in read_rows(path))]
        if gpus > 1:
            dist.broadcast_object_list(done, src=0)
        if done[0]:
            continue
        over = [rank == 0 and 0 < options.time_limit < time.monotonic() - begun]
        if gpus > 1:
            dist.broadcast_object_list(over, src=0)
        if over[0]:
            if rank == 0:
                print(f"measure_pytorch.py: time limit: from {name} on not measured; start it again to go on", file=sys.stderr)
            break
        problem, result = "", {}
        try:
            result = measure(run, device, options.steps, half)
        except torch.cuda.OutOfMemoryError:
            problem = "does not fit in memory"
        except Exception as error:  # pylint: disable=broad-except
            if gpus > 1:
                raise  # the other ranks may be inside a collective: torchrun ends them
            problem = f"{type(error).__name__}: {error}"
        if problem and gpus > 1:
            raise RuntimeError(f"{name}: {problem}")  # likewise
        if rank == 0 and problem:
            missing += 1
            print(f"measure_pytorch.py: {number} of {len(runs)}: {name}: {problem}", file=sys.stderr, flush=True)
        elif rank == 0:
            write_rows(path, read_rows(path) + [row_of(run, result, gpus, gpu, precision, options.software)])
            print(f"measure_pytorch.py: {number} of {len(runs)}: {name}: {result['step'] * 1e3:.2f} ms, "
                  f"{result['peak'] / 2**30:.2f} GiB", file=sys.stderr, flush=True)
        torch._dynamo.reset()  # pylint: disable=protected-access
        gc.collect()
        torch.cuda.empty_cache()
    if gpus > 1:
        dist.destroy_process_group()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
