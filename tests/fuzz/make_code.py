#!/usr/bin/env python3
"""Makes the seed corpora of what kmb code reads, from tests/data/code.

usage: make_code.py DATA FOLDER     (tests/data/code tests/fuzz/corpus)

What stands there already is replaced.
"""
import pathlib
import sys


def cubins(data):
    tiny = (data / 'tiny.cubin').read_bytes()
    return {
        'ok-tiny': tiny,
        'ok-older': (data / 'older.cubin').read_bytes(),
        'bad-cut': tiny[:3 * len(tiny) // 4],
        'bad-arch': tiny[:49] + b'\xd3' + tiny[50:],
        'bad-machine': tiny[:18] + b'\x3e' + tiny[19:],
        'bad-fat': b'\x50\xed\x55\xba\x01\0\x10\0',
        'bad-ptx': b'.version 9.0\n.target sm_90\n.visible .entry k() {}\n',
    }


def main():
    data, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for kind, files in (('cubin', cubins(data)),):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for old in (folder / kind).iterdir():
            old.unlink()
        for name, content in files.items():
            (folder / kind / name).write_bytes(content)


if __name__ == '__main__':
    main()
