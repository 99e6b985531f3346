#!/bin/sh
# Formatting and static analysis of the C sources.
#
# usage: check_style.sh format SOURCE_DIR
#        check_style.sh tidy|tidy-deep|tidy-tests SOURCE_DIR BUILD
set -u
mode=$1
cd "$2" || exit 1
tool=clang-${mode%-*}
command -v "$tool" >/dev/null || {
  echo "$tool was not found (Debian package $tool)"
  exit 77
}

# Each file that the build compiles, once.
compiled() {
  python3 - "$1/compile_commands.json" <<'PYTHON'
import json, os, sys
commands = json.load(open(sys.argv[1], encoding='utf-8'))
files = {os.path.realpath(os.path.join(c['directory'], c['file']))
         for c in commands}
print('\n'.join(sorted(f for f in files if f.endswith('.c'))))
PYTHON
}

# tidy FILES_AT_ONCE OPTION...: the files come from stdin.
tidy() {
  files=$1
  shift
  xargs -r -P "$(nproc)" -n "$files" clang-tidy --quiet "$@"
}

case $mode in
format)
  for folder in include lib backends tools examples tests bench; do
    [ ! -d $folder ] || find $folder -name '*.[ch]' -o -name '*.hpp' -o -name '*.cc'
  done | sort | xargs clang-format --dry-run -Werror
  ;;
tidy)
  # A fifth of the paths that the analyzer would follow, in a third of the time.
  compiled "$3" | grep -v /tests/ |
    tidy 2 -p "$3" --extra-arg=-Xclang --extra-arg=-analyzer-config \
      --extra-arg=-Xclang --extra-arg=max-nodes=40000
  ;;
tidy-deep)
  compiled "$3" | grep -v /tests/ | tidy 2 -p "$3"
  ;;
tidy-tests)
  # The analyzer takes seconds a file: what is shipped gets it, the tests only
  # the other checks.
  compiled "$3" | grep /tests/ |
    tidy 8 -p "$3" '--checks=-clang-analyzer-*'
  ;;
*)
  echo "check_style.sh: there is no mode \"$mode\""
  exit 2
  ;;
esac
