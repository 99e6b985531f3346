#!/bin/sh
# The type hints of the Python front hold.
# usage: types.sh PACKAGE_DIR
command -v mypy >/dev/null || {
  echo "mypy was not found (Debian package mypy)"
  exit 77
}
cd "$1" && exec mypy --strict --cache-dir=/dev/null kmb
