#!/bin/sh
# Formatting and static analysis of the C sources.
#
# usage: check_style.sh format SOURCE_DIR
#        check_style.sh tidy|tidy-tests SOURCE_DIR BUILD
set -u
mode=$1
cd "$2" || exit 1
tool=clang-${mode%-tests}
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

case $mode in
format)
  for folder in include lib backends tools examples tests bench; do
    [ ! -d $folder ] || find $folder -name '*.[ch]'
  done | sort | xargs clang-format --dry-run -Werror
  ;;
tidy)
  compiled "$3" | grep -v /tests/ |
    xargs -r -P "$(nproc)" -n 2 clang-tidy -p "$3" --quiet
  ;;
tidy-tests)
  # The analyzer takes seconds a file: what is shipped gets it, the tests only
  # the other checks.
  compiled "$3" | grep /tests/ |
    xargs -r -P "$(nproc)" -n 8 clang-tidy -p "$3" --quiet \
      '--checks=-clang-analyzer-*'
  ;;
esac
