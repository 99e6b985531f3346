#!/usr/bin/env python3
"""Writes bindings/python/kmb/_abi.py: what the public headers declare, for
ctypes. Offsets are left to ctypes; tests/python compares them with a C
compiler's.

usage: python_abi.py [--check] INCLUDE_DIR OUTPUT COMPILER...
"""
import re
import sys

import abi_interface

HEAD = '''\
"""The C interface for ctypes. Written by scripts/python_abi.py."""
# pylint: disable=too-many-lines,line-too-long
import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, \\
    c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Tuple

'''
SCALARS = {'double': 'c_double', 'size_t': 'c_size_t', 'int': 'c_int',
           'uint64_t': 'c_uint64', 'int64_t': 'c_int64',
           'uint32_t': 'c_uint32', 'int32_t': 'c_int32', 'void': 'None'}
# Maps of the headers that Python needs as well: macro, name here, and which of
# the fields X(...) are kept.
MAPS = [('result.h', 'KMB_VALUE_MAP', 'VALUES'),
        ('device.h', 'KMB_DEVICE_ATTR_MAP', 'ATTRIBUTES'),
        ('base.h', 'KMB_DTYPE_MAP', 'DTYPES'),
        ('base.h', 'KMB_STATUS_MAP', 'STATUSES'),
        ('result.h', 'KMB_FINDING_MAP', 'FINDINGS'),
        ('result.h', 'KMB_OP_MAP', 'OP_KINDS'),
        ('counters.h', 'KMB_COUNTERS_SOL_MAP', 'COUNTERS_SOL')]


class Writer:
    def __init__(self, interface):
        self.interface = interface
        self.structs = {s.name for s in interface.structs}

    def function(self, text):
        """A pointer to a function, written out as "result(*)(parameters)"."""
        result, inside = re.match(r'^(.*?)\(\*\)\((.*)\)$', text).groups()
        kinds = [self.kind(result.strip())]
        if inside != 'void':
            kinds += [self.kind(p) for p in abi_interface.split(inside)]
        return 'CFUNCTYPE(%s)' % ', '.join(kinds)

    def kind(self, text):
        if '(*)' in text:
            return self.function(text)
        words = re.sub(r'\b(const|volatile)\b', '', text)
        base, stars = re.match(r'^(.*?)([*\s]*)$', words.strip()).groups()
        base, depth = ' '.join(base.split()), stars.count('*')
        if depth and base in ('char', 'void'):
            kind, depth = {'char': 'c_char_p', 'void': 'c_void_p'}[base], \
                depth - 1
        elif base in SCALARS:
            kind = SCALARS[base]
        elif base in self.structs:
            kind = base
        elif depth and re.match(r'^kmb_\w+$', base):  # a handle
            kind, depth = 'c_void_p', depth - 1
        else:
            raise SystemExit('python_abi.py does not understand ' + text)
        for _ in range(depth):
            kind = 'POINTER(%s)' % kind
        return kind


def wrapped(start, items, end):
    """One item a line."""
    return start + ''.join('\n    %s,' % i for i in items) + '\n' + end


def map_of(include, header, macro, name):
    with open('%s/kmb/%s' % (include, header), encoding='utf-8') as file:
        text = file.read()
    body = re.search(r'#define %s\(X\)((?:.*\\\n)*.*\n)' % macro, text).group(1)
    rows = []
    body = body.replace('\\\n', '\n')
    for row in re.findall(r'X\(((?:"[^"]*"|[^()"])*)\)', body):
        row = re.sub(r'"\s+"', '', row)  # a string in two parts
        fields = re.findall(r'"[^"]*"|[^,\s]+', row)
        rows.append('(%s)' % ', '.join(
            f if f[0] in '"-0123456789' else '"%s"' % f for f in fields))
    if not rows:
        raise SystemExit('%s: nothing was read of %s' % (header, macro))
    return wrapped('%s: List[Tuple[Any, ...]] = [' % name, rows, ']\n')


def written(include, compiler):
    interface = abi_interface.read(include, compiler)
    ours = lambda rows: [r for r in rows if r[0] != 'backend.h']
    writer = Writer(interface)
    parts = [HEAD, '# Constants.\n']
    parts += ['%s = %d\n' % (n, v) for _, n, v in ours(interface.constants)]
    parts.append('\n# Names, as in the maps of the headers.\n')
    parts += [map_of(include, *row) for row in MAPS]
    structs = [s for s in interface.structs if s.header != 'backend.h']
    parts += ['\n\nclass %s(ctypes.Structure):\n    """Fields below."""\n'
              % s.name for s in structs]
    for struct in structs:
        parts.append(wrapped('\n\n%s._fields_ = [' % struct.name, [
            '("%s", %s)' % (n, writer.kind(t)) for n, t in struct.members],
                             ']'))
    parts.append('\n\n')
    parts.append(wrapped('FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {', [
        '"%s": (%s, [%s])' % (n, writer.kind(r), ', '.join(
            writer.kind(p) for p in ps if p != 'void'))
        for _, n, r, ps, _ in ours(interface.functions)], '}\n'))
    return ''.join(parts)


def main():
    checking = sys.argv[1] == '--check'
    include, output, *compiler = sys.argv[1 + checking:]
    text = written(include, compiler)
    if not checking:
        with open(output, 'w', encoding='utf-8') as file:
            file.write(text)
        return 0
    with open(output, encoding='utf-8') as file:
        same = file.read() == text
    print('%s is %s' % (output, 'as the headers are' if same else
                        'not as the headers are: run scripts/abi_freeze.sh'))
    return 0 if same else 1


if __name__ == '__main__':
    sys.exit(main())
