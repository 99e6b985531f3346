#!/usr/bin/env python3
"""What the built library exports and needs.

usage: check_symbols.py exports LIBRARY MAP INCLUDE_DIR/kmb
       check_symbols.py needed LIBRARY
       check_symbols.py hidden SHARED_OBJECT EXPECTED_SYMBOL
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..',
                                'scripts'))
import headers  # noqa: E402

# libpthread is a part of libc since glibc 2.34, a library before.
ALLOWED = re.compile(r'^(libc|libm|libpthread|libhwloc|libjansson|'
                     r'ld-linux[-\w]*)\.so(\.\d+)?$')


def output(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def exported(path):
    """Defined dynamic symbols, versions' own names left out."""
    names = set()
    for line in output('nm', '-D', '--defined-only', path).splitlines():
        kind, name = line.split()[-2:]
        if kind != 'A':
            names.add(name.split('@')[0])
    return names


def compare(what, have, want):
    for name in sorted(have - want):
        print('%s: %s should not be there' % (what, name))
    for name in sorted(want - have):
        print('%s: %s is missing' % (what, name))
    return have != want


def exports(library, version_map, include):
    with open(version_map, encoding='utf-8') as file:
        nodes = [re.findall(r'^\s*(kmb_\w+);', node, re.M)
                 for node in file.read().split('}')]
    listed = [name for node in nodes for name in node]
    declared = {f.name for f in headers.functions(include)}
    bad = len(set(listed)) != len(listed) or not listed
    if bad:
        print('%s: a name is listed twice, or none is' % version_map)
    if any(sorted(node) != node for node in nodes):
        print('%s: the names are not sorted' % version_map)
        bad = True
    bad |= compare('headers against ' + version_map, declared, set(listed))
    bad |= compare('exports against ' + version_map, exported(library),
                   set(listed))
    print('%d functions' % len(listed))
    return bad


def needed(library):
    names = re.findall(r'\(NEEDED\).*\[(.*)\]', output('readelf', '-dW',
                                                       library))
    strange = [n for n in names if not ALLOWED.match(n)]
    print('needs ' + ', '.join(names))
    for name in strange:
        print('%s must not be needed' % name)
    if not any(n.startswith('libc.') for n in names):
        print('libc is not among them: the list was not read')
        return True
    return bool(strange)


def hidden(path, expected):
    names = exported(path)
    bad = sorted(n for n in names if n.startswith('kmb'))
    for name in bad:
        print('%s exports %s' % (path, name))
    if expected not in names:
        print('%s does not export %s: the list was not read'
              % (path, expected))
        return True
    return bool(bad)


if __name__ == '__main__':
    sys.exit({'exports': exports, 'needed': needed, 'hidden': hidden}
             [sys.argv[1]](*sys.argv[2:]))
