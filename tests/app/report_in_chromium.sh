#!/usr/bin/env bash
# report_in_chromium.sh PROGRAM FOLDER: makes pages of every kind with --report and looks at them in a headless Chromium.
# FOLDER is where the build has made the page, with what npm has brought. Exit status 77: something to do it with is
# missing, which one line says. With STEPCAST_SCREENSHOTS=FOLDER pictures of all pages are put there.
set -euo pipefail
program=$1 folder=$2
skip() {
  echo "skipped: $*"
  exit 77
}
node=$(command -v node || command -v nodejs) || skip "no Node.js (Debian: nodejs)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no Chromium (Debian: chromium)"
[[ -s $folder/page.html && -d $folder/node_modules/playwright-core ]] || skip "the page of reports was not built"

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
stepcast() { "$program" "$@" >/dev/null; }
start=scenarios/quickstart.yaml

stepcast run "$start" --report "$work/run.html"
stepcast run scenarios/gpt-1t-3072.yaml --report "$work/many.html"
sed -e '/^name:/d' "$start" >"$work/hostile.yaml"
cat >>"$work/hostile.yaml" <<'YAML'
name: "</script><script>globalThis.scripted=1</script><img src=x onerror='globalThis.scripted=1'> \"quotes\" & 'more' <!--"
YAML
stepcast run "$work/hostile.yaml" --report "$work/hostile.html"
stepcast validate scenarios/published/megatron_sc21.csv --report "$work/validate.html"
stepcast sweep "$start" --axis parallelism.tensor=4,8 --axis parallelism.pipeline=4,8 --set parallelism.data= \
  --report "$work/sweep.html"
stepcast search "$start" --over parallelism.tensor=4,8 --fix data_parallel.zero --budget 20 --front \
  --report "$work/search.html"
stepcast sensitivity "$start" --report "$work/sensitivity.html"
stepcast plan scenarios/gpt3-175b-1024-a100.yaml --gpus 512,1024 --report "$work/plan.html"
stepcast collective --node dgx-a100-80gb --nodes 2 --sizes 1KiB:1GiB:x32 --algorithm all --report "$work/collective.html"
stepcast topology dgx-a100-80gb --nodes 2 --report "$work/topology.html"
stepcast diff "$start" --set-b recompute=full --report "$work/diff.html" --format json --output "$work/diff.json"
stepcast diff scenarios/resnet-50-v100.yaml tests/app/traces/resnet-50-v100.pt.trace.json.gz --set-a cluster.gpus=1 \
  --set-a training.global_batch=32 --set-a training.micro_batch=32 --report "$work/diff-trace.html"
stepcast diff "$work/hostile.yaml" --set-b recompute=full --report "$work/hostile-diff.html"
stepcast report "$work/diff.json" --output "$work/diff-kept.html"
stepcast run "$start" --format json --output "$work/one.json"
stepcast run scenarios/published/megatron_sc21.csv --format json --output "$work/two.json"
stepcast report "$work/one.json" "$work/two.json" --output "$work/several.html"

"$node" "$folder/test/browser.mjs" "$chromium" "$work/profile" "$work/run.html=run" "$work/many.html=many" \
  "$work/hostile.html=hostile" "$work/validate.html=chart" "$work/sweep.html=chart" "$work/search.html=chart" \
  "$work/sensitivity.html=chart" "$work/plan.html=chart" "$work/collective.html=legend" "$work/topology.html=chart" \
  "$work/several.html=chart" "$work/diff.html=diff" "$work/diff-trace.html=measured" "$work/diff-kept.html=chart" \
  "$work/hostile-diff.html=hostile"
