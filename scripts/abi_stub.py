#!/usr/bin/env python3
"""Writes C code of a library that has the public interface and nothing behind
it: every exported function, each of which aborts. Built with -g it describes
the interface to abidw without the library's insides.

usage: abi_stub.py INCLUDE_DIR COMPILER...
"""
import sys

import abi_interface


def main():
    include, compiler = sys.argv[1], sys.argv[2:]
    if not compiler:
        raise SystemExit(__doc__)
    interface = abi_interface.read(include, compiler)
    print('#include <kmb/kmb.h>\n#include <stdlib.h>')
    for header, name, result, _, named in interface.functions:
        if header != 'backend.h':
            print('\n%s %s(%s) {\n  abort();\n}'
                  % (result, name, ', '.join(named)))


if __name__ == '__main__':
    main()
