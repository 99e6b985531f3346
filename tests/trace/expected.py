#!/usr/bin/env python3
"""`kmb gaps --json` gives each value of expected.json, exactly.

usage: expected.py KMB FOLDER
"""
import json
import os
import subprocess
import sys


def differences(want, got, where):
    if isinstance(want, dict):
        for key, value in want.items():
            if key not in got:
                yield '%s/%s is missing' % (where, key)
            else:
                yield from differences(value, got[key], where + '/' + key)
    elif isinstance(want, list):
        if len(want) != len(got):
            yield '%s has %d items, not %d' % (where, len(got), len(want))
        for i, pair in enumerate(zip(want, got)):
            yield from differences(*pair, '%s/%d' % (where, i))
    elif want != got:
        yield '%s is %r, not %r' % (where, got, want)


def main():
    kmb, folder = sys.argv[1:]
    with open(os.path.join(folder, 'expected.json'), encoding='utf-8') as file:
        expected = json.load(file)
    bad = 0
    for name, want in expected.items():
        done = subprocess.run(
            [kmb, 'gaps', os.path.join(folder, name), '--json', '--kernel',
             'flash_fwd|^gemm$'], capture_output=True, encoding='utf-8',
            check=False)
        if done.returncode:
            print('%s: status %d: %s' % (name, done.returncode, done.stderr))
            bad += 1
            continue
        for line in differences(want, json.loads(done.stdout), name):
            print(line)
            bad += 1
    print('%d files' % len(expected))
    return 1 if bad or len(expected) < 4 else 0


if __name__ == '__main__':
    sys.exit(main())
