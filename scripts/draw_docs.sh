#!/usr/bin/env bash
# Makes what the pages of docs/ show from the commands that they show: pictures, and what a command prints.
#
#   scripts/draw_docs.sh            writes both into docs/
#   scripts/draw_docs.sh --check    says what would change, and ends with status 1 if anything would
#
# Of a page, a line of four blanks and `scripts/stepcast ...` is a command. It is run if it names a picture
# (docs/....svg), which it then draws; if `<!-- printed: begin -->` comes after it, behind which what it prints is
# written, up to `<!-- printed: end -->`; and in pages that hold `<!-- all commands run -->` always. Examples of files
# (```yaml, with `# NAME` as their first line) are there for commands further down. The variable stepcast names another
# program. All of it happens in a scratch folder, so a command that fails leaves docs/ as it was.
set -euo pipefail
export LC_ALL=C

script=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${script%/scripts/draw_docs.sh}
: "${stepcast:=$root/scripts/stepcast}"
export stepcast STEPCAST_CONFIGS= XDG_CONFIG_HOME=/nowhere COLUMNS=120
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

cp -r -- "$root/docs" "$scratch/docs"
ln -s -- "$root/scenarios" "$root/configs" "$root/calibrate" "$root/tests" "$scratch/"

# The page as it should be, to standard output.
render() {
  local page=$1 line command="" printed="" file="" always=0 inside=0
  grep -q '^<!-- all commands run -->$' "$page" && always=1
  while IFS= read -r line || [[ $line ]]; do
    case $line in
      '```yaml') file=first ;;
      '```') file="" ;;
      '# '*)
        if [[ $file == first ]]; then
          file=${line#\# }
          mkdir -p -- "$(dirname -- "$file")"
          : >"$file"
        fi
        ;;
    esac
    [[ $file && $file != first ]] && printf '%s\n' "$line" >>"$file"
    if [[ $line == '    scripts/stepcast '* ]]; then
      command=${line#    scripts/stepcast } printed=""
      if ((always)) || [[ $command == *docs/*.svg* ]]; then run; fi
    fi
    if [[ $line == '<!-- printed: begin -->' ]]; then
      [[ $printed ]] || run
      printf '%s\n\n%s\n' "$line" "$printed"
      inside=1
    elif [[ $line == '<!-- printed: end -->' ]]; then
      printf '\n%s\n' "$line"
      inside=0
    elif ((!inside)); then
      printf '%s\n' "$line"
    fi
  done <"$page"
}

# What `command` prints, as a block of the page. Status 3 says that a plan does not fit, which may be the point.
run() {
  local status=0
  printed=$(eval "\"\$stepcast\" $command" 2>"$scratch/errors") || status=$?
  if ((status != 0 && status != 3)); then
    printf '%s: stepcast %s: status %s\n%s\n' "$page" "$command" "$status" "$(<"$scratch/errors")" >&2
    exit 1
  fi
  printed=$(sed -e 's/^/    /' -e 's/ *$//' <<<"$printed")
}

cd -- "$scratch"
while IFS= read -r page; do
  render "$page" >"$scratch/page"
  mv -- "$scratch/page" "$page"
done < <(grep -rlE '^    scripts/stepcast ' --include='*.md' docs | sort)

if [[ ${1:-} == --check ]]; then
  diff -r -q -- "$scratch/docs" "$root/docs" || {
    echo "scripts/draw_docs.sh writes what the program draws and prints now" >&2
    exit 1
  }
else
  cp -r -- docs/. "$root/docs/"
fi
