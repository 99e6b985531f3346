# Shared by demo.sh and test.sh, which source it: finds out what the build
# needs, installs what is missing through apt, and configures. POSIX sh.
#
# KMB_BUILD  build folder (build)

# shellcheck shell=sh disable=SC2034 # variables of the scripts that source it

set -u
CDPATH="" cd -- "$(dirname "$0")/.." || exit 1
build=${KMB_BUILD:-build}
installed=no
LC_ALL=C.UTF-8
export LC_ALL

say() {
  printf '== %s\n' "$*"
}

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

now() {
  date +%s
}

# Whether what a Debian package brings is there, from whatever source.
have() {
  case $1 in
  gcc) command -v cc ;;
  g++) command -v c++ ;;
  libc6-dev) echo '#include <stdio.h>' | cc -E - ;;
  meson) command -v meson ;;
  ninja-build) command -v ninja ;;
  pkg-config) command -v pkg-config ;;
  libhwloc-dev) pkg-config --exists 'hwloc >= 2.5' ;;
  libjansson-dev) pkg-config --exists 'jansson >= 2.13' ;;
  libopenblas-dev) pkg-config --exists openblas ;;
  python3) command -v python3 ;;
  python3-jsonschema) python3 -c 'import jsonschema' ;;
  python3-mesonpy) /usr/bin/python3 -c 'import mesonpy' ;;
  python3-torch) /usr/bin/python3 -c 'import numpy, torch' ;;
  libtorch-dev) test -f /usr/include/torch/library.h ;;
  python3-mpi4py) /usr/bin/python3 -c 'import mpi4py' ;;
  python3-setuptools) /usr/bin/python3 -c 'import setuptools' ;;
  abigail-tools) command -v abidiff ;;
  libbenchmark-dev) pkg-config --exists benchmark ;;
  libcairo2-dev) pkg-config --exists cairo ;;
  libopenmpi-dev) pkg-config --exists ompi-c ;;
  openmpi-bin) command -v mpirun.openmpi ;;
  libmpich-dev) pkg-config --exists mpich ;;
  mpich) command -v mpirun.mpich ;;
  libelf-dev) pkg-config --exists libelf ;;
  clang) command -v clang ;;
  *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

missing() { # PACKAGE...: prints those that are not there
  for package in "$@"; do
    have "$package" || printf '%s ' "$package"
  done
}

# Installs what is missing of the named Debian packages, or says what is and
# stops.
need() {
  lacking=$(missing "$@")
  [ -n "$lacking" ] || return 0
  as=
  if [ "$(id -u)" != 0 ]; then
    as=sudo
    command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true; } \
      2>/dev/null || as=none
  fi
  if [ "$as" = none ] || ! command -v apt-get >/dev/null 2>&1; then
    die "These Debian packages, or what they bring, are missing:
  $lacking
Install them, as root:
  apt-get install --no-install-recommends $lacking"
  fi
  say "installing $lacking"
  start=$(now)
  # shellcheck disable=SC2086 # nothing, or sudo
  install_packages $as || die "apt-get failed; its messages stand above."
  lacking=$(missing "$@")
  [ -z "$lacking" ] || die "apt-get reported success, but these are still \
missing: $lacking"
  installed=yes
  say "installed in $(($(now) - start)) s"
}

install_packages() { # [sudo]
  log=$(mktemp) || return 1
  # shellcheck disable=SC2086
  if "$@" apt-get -qq update >"$log" 2>&1 &&
    "$@" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
      --no-install-recommends install $lacking >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  cat "$log" >&2
  rm -f "$log"
  return 1
}

# configure FOLDER [MESON OPTION...]: once, and again only if packages came.
configure() {
  folder=$1
  shift
  start=$(now)
  if [ ! -f "$folder/build.ninja" ]; then
    say "configuring $folder"
    meson setup "$folder" "$@" >"$folder.log" 2>&1 || {
      cat "$folder.log" >&2
      rm -f "$folder.log"
      die "Configuring failed."
    }
    mv "$folder.log" "$folder/configure.log"
  elif [ "$installed" = yes ]; then
    say "configuring $folder again, with what was installed"
    meson setup --reconfigure "$folder" >"$folder/configure.log" 2>&1 || {
      cat "$folder/configure.log" >&2
      die "Configuring failed."
    }
  else
    return 0
  fi
  say "configured in $(($(now) - start)) s"
}

# compile FOLDER [TARGET...]
compile() {
  folder=$1
  start=$(now)
  say "building $folder"
  ninja -C "$@" >"$folder/compile.log" 2>&1 || {
    cat "$folder/compile.log" >&2
    die "Building failed."
  }
  say "built in $(($(now) - start)) s"
}

basic="gcc libc6-dev python3 meson ninja-build pkg-config libhwloc-dev \
libjansson-dev libopenblas-dev"
