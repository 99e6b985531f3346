#!/usr/bin/env python3
"""Rules of the public interface that no layout shows.

usage: rules.py INCLUDE_DIR SUPPRESSIONS COMPILER...
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..',
                                'scripts'))
import abi_interface  # noqa: E402


def base(kind):
    return kind.replace('const ', '').strip()


def by_value(interface, structs):
    """Where one of `structs` is a value and not a pointer."""
    for struct in interface.structs:
        for name, kind in struct.members:
            if base(kind) in structs:
                yield '%s.%s' % (struct.name, name), base(kind)


def problems(interface, suppressions):
    growing = interface.growing()
    every = {s.name for s in interface.structs}
    for where, name in by_value(interface, growing):
        yield ('%s embeds %s, which may grow: point to it' % (where, name))
    for _, function, result, kinds, _ in interface.functions:
        for kind in [result] + kinds:
            if base(kind) in every:
                yield ('%s passes %s by value: pass a pointer'
                       % (function, base(kind)))
    for _, init, kind in interface.inits:
        if init != kind + '_init' or kind not in growing:
            yield '%s does not initialise a struct that may grow' % init
    with open(suppressions, encoding='utf-8') as file:
        listed = re.search(r'^name_regexp = \^\((.*)\)\$$', file.read(), re.M)
    listed = set(listed.group(1).split('|')) if listed else set()
    for name in sorted(growing ^ listed):
        yield ('%s: %s %s' % (os.path.basename(suppressions), name,
                              'is missing' if name in growing
                              else 'is no struct that may grow'))


def main():
    include, suppressions, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    interface = abi_interface.read(include, compiler)
    found = list(problems(interface, suppressions))
    for problem in found:
        print(problem)
    print('%d structs, %d of them may grow' % (len(interface.structs),
                                               len(interface.growing())))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
