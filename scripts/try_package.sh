#!/usr/bin/env bash
# Builds the Debian package, installs it with apt in a bare Debian (a chroot made by debootstrap, at the first argument or
# in a temporary folder) and tries the program, its manual page and completion there. Needs root, the network and some
# 700 MB; CI does not run it. The last line is "N passed, N failed".
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
cd "$root"
suite=bookworm
passed=0 failed=0

say() { printf 'try_package.sh: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}
[[ $(id -u) == 0 ]] || fail "needs root, for chroot"

# shellcheck source=scripts/packages.sh
source scripts/packages.sh
install_missing "${packages[@]}" debootstrap dpkg-dev file

chroot=${1:-}
if [[ -z $chroot ]]; then
  chroot=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$chroot"' EXIT
fi
if [[ ! -x $chroot/usr/bin/apt-get ]]; then
  mirror=$(sed -nE 's/^(deb .*|URIs: *)?(https?:[^ ]*debian\/?)( .*)?$/\2/p' /etc/apt/sources.list \
    /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
  say "a bare $suite in $chroot"
  debootstrap --variant=minbase "$suite" "$chroot" "${mirror:-http://deb.debian.org/debian}" >"$chroot.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 3 "$chroot.log")"
  cp /etc/resolv.conf /etc/hosts "$chroot/etc/" # how names are found here
fi

cmake --preset release >/dev/null
cmake --build --preset release --target stepcast >&2
rm -f build/release/stepcast_*.deb
(cd build/release && cpack -G DEB >cpack.log 2>&1) || fail "cpack failed: $(tail -n 5 build/release/cpack.log)"
package=$(ls build/release/stepcast_*.deb)
say "made $package ($(stat -c %s "$package") bytes)"
dpkg-deb --info "$package" | sed 's/^/  /' >&2
cp "$package" "$chroot/tmp/stepcast.deb"

# With /proc in a mount namespace of its own, so that nothing stays mounted.
inside() {
  unshare -m bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$chroot" env -i HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get -qq update >&2 || fail "apt-get update failed in the chroot"
inside apt-get -qq install -y /tmp/stepcast.deb >&2 || fail "the package cannot be installed"
inside apt-get -qq install -y --no-install-recommends man-db bash-completion zsh fish >&2

try() { # WHAT EXPECTED COMMAND...: the command's output must hold EXPECTED
  local what=$1 expected=$2 output status=0
  shift 2
  output=$(inside "$@" 2>&1) || status=$?
  if ((status == 0)) && [[ $output == *"$expected"* ]]; then
    passed=$((passed + 1))
    say "passed: $what"
  else
    failed=$((failed + 1))
    say "FAILED: $what: exit status $status, expected '$expected', found: $(head -c 400 <<<"$output")"
  fi
}

[[ ! -e $chroot$root/configs ]] || fail "$root/configs is visible in the chroot"
try "the quickstart runs" "step time" stepcast run /usr/share/stepcast/scenarios/quickstart.yaml
try "it runs without /proc" "step time" sh -c 'umount /proc; stepcast run /usr/share/stepcast/scenarios/quickstart.yaml'
try "names are resolved" "h100-sxm5-80gb" stepcast list gpus
try "files are the installed ones" "/usr/share/stepcast/configs/gpus/h100-sxm5-80gb.yaml" \
  sh -c 'cd / && stepcast show gpus/h100-sxm5-80gb --format json | sed s,usr,/usr,'
try "validate finds the published runs" "rows" sh -c 'stepcast validate --format csv | awk "END { if (NR > 100) print \"rows\" }"'
try "PNG drawings" "PNG" sh -c 'stepcast run /usr/share/stepcast/scenarios/quickstart.yaml --schedule-diagram=/tmp/a.png >/dev/null && head -c 4 /tmp/a.png'
try "packed logs" "found no event of category kernel" sh -c 'printf "{}" | gzip | stepcast calibrate --import - 2>&1 || true'
try "the manual page" "--schedule-diagram" sh -c 'MANWIDTH=100 man stepcast | col -b'
try "the manual page is clean" "clean" sh -c 'man --warnings -E UTF-8 -l -Tutf8 -Z /usr/share/man/man1/stepcast.1* 2>&1 >/dev/null | grep . || echo clean'
try "bash completes names" "dgx-h100" bash -c '
  source /usr/share/bash-completion/bash_completion
  _completion_loader stepcast
  COMP_LINE="stepcast topology dgx-h" COMP_POINT=23
  _stepcast 2>/dev/null; echo "${COMPREPLY[@]}"'
try "bash completes keys of --set" "parallelism." bash -c '
  source /usr/share/bash-completion/completions/stepcast
  COMP_LINE="stepcast run a.yaml --set par" COMP_POINT=29
  _stepcast 2>/dev/null; echo "${COMPREPLY[@]}"'
try "zsh has its script" "_stepcast" zsh -c 'autoload -Uz compinit && compinit -u && echo $_comps[stepcast]'
try "fish completes commands" "validate" fish -c 'complete -C "stepcast val"'
try "fish completes names" "dgx-h100" fish -c 'complete -C "stepcast collective --node dgx-h"'
try "removing it leaves nothing" "gone" sh -c 'apt-get -qq purge -y stepcast >/dev/null 2>&1; [ -e /usr/share/stepcast ] || echo gone'

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
