#!/usr/bin/env bash
# Measures a GPU node (and, with --slurm or --hosts, NCCL between several) and packs a bundle to send back.
# Needs what docs/calibrate.md says: CUDA 12 or later, NCCL, cmake; MPI for several nodes; torch for PyTorch's steps.
# Started again with the same --out it goes on where it stopped.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")

usage() {
  cat <<'TEXT'
scripts/calibrate_dgx.sh [options]
  --out FOLDER       the bundle (default: bundle); FOLDER.tar.gz is what to send back
  --quick            minutes in place of hours
  --time-limit S     seconds for the kernel suite, and as many each time for stepcast's training steps
  --slurm N          submit it to Slurm for N nodes, one task a node; further words for sbatch come after --
  --hosts A,B,...    NCCL between these nodes too, over SSH by mpirun; the folder must be at the same path on all
  --no-pytorch       leave PyTorch's steps out
  --build FOLDER     where the measuring program is built (default: build-measure)
TEXT
}

say() { printf 'calibrate_dgx.sh: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

out=bundle build=$root/build-measure slurm=0 hosts='' pytorch=1 time_limit='' inside=0
quick=() words=("$@")
while (($#)); do
  case $1 in
    --out | --time-limit | --slurm | --hosts | --build)
      (($# > 1)) || { usage >&2; fail "$1: expected a value after it"; }
      ;;
  esac
  case $1 in
    --out) out=$2 && shift ;;
    --quick) quick=(--quick) ;;
    --time-limit) time_limit=$2 && shift ;;
    --slurm) slurm=$2 && shift ;;
    --hosts) hosts=$2 && shift ;;
    --no-pytorch) pytorch=0 ;;
    --build) build=$2 && shift ;;
    --inside-slurm) inside=1 ;; # the job that --slurm submitted
    --) shift && break ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && fail "found '$1'" ;;
  esac
  shift
done

if [[ $slurm != 0 && $inside == 0 ]]; then
  [[ $slurm =~ ^[1-9][0-9]*$ ]] || fail "--slurm: found '$slurm', expected a number of nodes"
  own=() # our own words, without those for sbatch
  for word in "${words[@]}"; do
    [[ $word == -- ]] && break
    own+=("$word")
  done
  # Wrapped: Slurm runs a copy of a script, which would not find its repository.
  printf -v command '%q ' "$root/scripts/calibrate_dgx.sh" "${own[@]}" --inside-slurm
  exec sbatch --nodes="$slurm" --ntasks-per-node=1 --exclusive --job-name=stepcast-calibrate "$@" --wrap "$command"
fi

section() { printf '\n== %s (%d s)\n' "$*" "$SECONDS" >&2; }

section "1/6 build"
command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || fail "no nvcc: load the CUDA module"
cmake -S "$root/calibrate/measure" -B "$build" -D CMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$build" -j "$(nproc)" >/dev/null
measure=$build/stepcast_measure
[[ -x $measure ]] || fail "stepcast_measure was not built: cmake -S $root/calibrate/measure -B $build says why"
mkdir -p "$out"

section "2/6 checks"
"$measure" --alone --check 2>"$out/checks.log" || { tail -n 20 "$out/checks.log" >&2; fail "a kernel failed its check: $out/checks.log"; }
tail -n 1 "$out/checks.log" >&2

section "3/6 this node: kernels, clocks in long runs, copies, interference, NCCL, training steps"
limit=()
[[ -z $time_limit ]] || limit=(--time-limit "$time_limit")
status=0
"$measure" --alone --out "$out" "${quick[@]}" "${limit[@]}" || status=$?
case $status in
  0) ;;
  3) say "a check failed: what it concerns is not measured, as it says above" ;;
  *) fail "not all measured, as it says above; the same command goes on" ;;
esac

section "4/6 NCCL and training steps between nodes"
between=()
if [[ -n $hosts ]]; then
  IFS=, read -r -a names <<<"$hosts"
  between=(mpirun -np "${#names[@]}" --host "$(printf '%s:1,' "${names[@]}" | sed 's/,$//')" --map-by node
    --bind-to none -x PATH -x LD_LIBRARY_PATH) # a thread per GPU, and NCCL's: all cores
  # mpirun hands no variable on unless it is told to.
  while IFS= read -r name; do between+=(-x "$name"); done < <(compgen -e | grep -E '^(NCCL|UCX|FI)_' || true)
elif ((inside)) && ((slurm > 1)); then
  between=(srun --ntasks-per-node=1 --cpu-bind=none)
  [[ -z ${STEPCAST_SRUN_MPI:-} ]] || between+=("--mpi=$STEPCAST_SRUN_MPI")
fi
# Starts the program on all nodes, and again for as long as single cases end it: it wrote which, and passes over them.
measure_between() {
  local start status=0
  for ((start = 0; start < 50; ++start)); do
    status=0
    "${between[@]}" "$measure" --out "$out" "$@" || status=$?
    if ((status == 0)) || [[ -z $(sed -n 3p "$out/under_way.tmp" 2>/dev/null) ]]; then break; fi
  done
  return "$status"
}
if ((${#between[@]})); then
  # The grid first; NCCL's own choice last, which finishes the table.
  if ((${#quick[@]} == 0)); then
    for algorithm in ring tree nvls nvls_tree; do
      for protocol in Simple LL128 LL; do
        [[ $algorithm != nvls* || $protocol == Simple ]] || continue
        say "NCCL $algorithm $protocol"
        measure_between --suite nccl --nccl-algorithm "$algorithm" --nccl-protocol "$protocol" ||
          say "NCCL $algorithm $protocol: not measured, as it says above"
      done
    done
  fi
  measure_between --suite nccl,steps "${quick[@]}" "${limit[@]}" ||
    say "between nodes: not all measured, as it says above"
else
  say "one node: nothing to do"
fi

section "5/6 PyTorch: kernels, host, training steps"
if ((pytorch == 0)); then
  say "left out, as asked"
elif ! python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  say "skipped: python3 has no torch that sees a GPU"
else
  gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())')
  python3 "$root/scripts/measure_pytorch_kernels.py" --out "$out" "${quick[@]}" || say "PyTorch's kernels: not measured"
  python3 "$root/scripts/measure_pytorch.py" --out "$out/steps" "${quick[@]}" || say "PyTorch: not all measured"
  if ((gpus > 1)); then
    torchrun --standalone --nproc-per-node="$gpus" "$root/scripts/measure_pytorch.py" --out "$out/steps" "${quick[@]}" ||
      say "PyTorch on $gpus GPUs: not all measured"
  fi
fi

section "6/6 bundle"
# What the driver says, without serial numbers and UUIDs.
nvidia-smi topo -m >"$out/nvidia-smi-topo.txt" 2>&1 || true
nvidia-smi -q 2>/dev/null | sed -E '/(Serial Number|UUID|Board Part Number|GPU PDI)/s/:.*/: -/' >"$out/nvidia-smi-q.txt" || true
tar -C "$(dirname -- "$out")" --exclude='*.part' --exclude='*.tmp' -czf "$out.tar.gz.tmp" "$(basename -- "$out")"
mv -- "$out.tar.gz.tmp" "$out.tar.gz"
say "done: send back $out.tar.gz ($(du -h -- "$out.tar.gz" | cut -f1))"
