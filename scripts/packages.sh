# Sourced by stepcast and test.sh: installs Debian packages that are missing. `say` and `fail` are the caller's.

packages=(g++ cmake ninja-build ccache libboost-graph-dev libboost-program-options-dev libboost-context-dev
  libyaml-cpp-dev libgtest-dev libgmock-dev libbenchmark-dev libfmt-dev nlohmann-json3-dev libeigen3-dev
  libpugixml-dev pkgconf librsvg2-dev fonts-dejavu-core libarchive-dev libsqlite3-dev libtomlplusplus-dev)
# What parts of stepcast are built with that all others do without: layouts by integer programs, Chakra traces, the
# page of reports, and a faster allocator. A Node.js of another origin brings its own npm.
optional_packages=(coinor-libcbc-dev protobuf-compiler libprotobuf-dev libjemalloc-dev)
command -v npm >/dev/null || optional_packages+=(nodejs npm)
# What is tested besides: sweeps that mpirun shares out, the page in a browser, the module for Python, and the
# schema of scenarios.
test_packages=(libopenmpi-dev openmpi-bin chromium pybind11-dev python3-dev python3-pytest
  python3-jsonschema)

# install_missing PACKAGE...
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return # not Debian, but the tools are here
    fail "apt-get not found, and no cmake and ninja: install the equivalents of $*"
  fi
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    as_root=(sudo)
    if ! command -v sudo >/dev/null || ! { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      fail "no permission to install packages; as root: apt-get install ${missing[*]}"
    fi
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update >&2 || fail "apt-get update failed; is the network there?"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 || fail "apt-get could not install ${missing[*]}"
}

# install_optional PACKAGE...: what cannot be installed is told, and done without.
install_optional() {
  (
    fail() {
      say "$@"
      exit 1
    }
    install_missing "$@"
  ) || say "goes on without some of $*"
}
