#!/usr/bin/env python3
"""What the built library exports and needs.

usage: check_symbols.py exports LIBRARY MAP INCLUDE_DIR/kmb
       check_symbols.py needed LIBRARY
       check_symbols.py hidden SHARED_OBJECT EXPECTED_SYMBOL
       check_symbols.py announced LIBRARY SOURCE_DIR
       check_symbols.py parts ARCHIVE
"""
import collections
import glob
import json
import os
import re
import struct
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


def dlopen_notes(library):
    """The announcements in .note.dlopen: each a list of JSON objects."""
    found = []
    for line in output('readelf', '-SW', library).splitlines():
        section = re.search(r'\.note\.dlopen\s+NOTE\s+\w+\s+(\w+)\s+(\w+)',
                            line)
        if not section:
            continue
        at, size = (int(x, 16) for x in section.groups())
        with open(library, 'rb') as file:
            file.seek(at)
            data = file.read(size)
        while data:
            name, length, kind = struct.unpack('=III', data[:12])
            text = data[12 + (name + 3) // 4 * 4:][:length]
            assert data[12:15] == b'FDO' and kind == 0x407c0c0a, data[:16]
            found += json.loads(text.split(b'\0')[0])
            data = data[12 + (name + 3) // 4 * 4 + (length + 3) // 4 * 4:]
    return found


def announced(library, source):
    """What is opened by name is what is announced. A name without a version
    only looks for what is loaded already."""
    said = {n for note in dlopen_notes(library) for n in note['soname']}
    opened = set()
    for path in glob.glob(os.path.join(source, 'backends', '*', '*.c')) + \
            glob.glob(os.path.join(source, 'lib', '*.c')):
        with open(path, encoding='utf-8') as file:
            opened |= set(re.findall(r'"(lib[\w-]+\.so(?:\.\d+)+)"',
                                     file.read()))
    print('announces ' + ', '.join(sorted(said)))
    return compare('.note.dlopen against what is opened', said, opened) \
        or not said


def parts(archive):
    """No part of the library calls another but as the layers allow."""
    owner, wanted = {}, collections.defaultdict(set)
    part = None
    for line in output('nm', archive).splitlines():
        member = re.match(r'(?:meson-generated_)?(?:\.\._)*'
                          r'(?:backends_(\w+?)_)?[\w.-]+\.o:$', line)
        if member:
            part = 'backends/' + member.group(1) if member.group(1) else 'lib'
        symbol = re.match(r'[0-9a-f ]{16} ([A-Za-z]) (kmbi?_\w+)$', line)
        if symbol and symbol.group(1) == 'U':
            wanted[part].add(symbol.group(2))
        elif symbol and symbol.group(1).isupper():
            owner[symbol.group(2)] = part
    bad = len(wanted) < 2 or 'lib' not in wanted
    for part, names in sorted(wanted.items()):
        for name in sorted(names):
            whose = owner.get(name)
            entry = part == 'lib' and name.startswith('kmbi_backend_')
            if whose == part or name.startswith('kmb_') or entry:
                continue
            print('%s uses %s of %s' % (part, name, whose))
            bad = True
    print('%d parts' % len(wanted))
    return bad


if __name__ == '__main__':
    sys.exit({'exports': exports, 'needed': needed, 'hidden': hidden,
              'announced': announced, 'parts': parts}
             [sys.argv[1]](*sys.argv[2:]))
