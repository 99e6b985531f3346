#!/usr/bin/env python3
"""Writes the pins of a release: C code that no longer compiles once a member,
constant, type or function of the public headers is not what it was.

usage: abi_pins.py public|backend|growth INCLUDE_DIR COMPILER...

"growth" writes the suppressions of abidiff: the structs that may grow.
Offsets are sums of sizes, not what a compiler said: public structs have no
padding, and the pins would not compile if one had.
"""
import re
import sys

import abi_interface

SIZES = {'char': 1, 'double': 8, 'size_t': 8, 'uint64_t': 8, 'int64_t': 8,
         'int32_t': 4, 'uint32_t': 4, 'int': 4}

HEAD = """\
/* Pins of {what} for LP64.
 *
 * {promise}
 * docs/abi.md says what to do when this file does not compile.
 * Written by scripts/abi_pins.py. */
#include <kmb/{header}>

#include <stdio.h>

#if !defined(__LP64__)

int main(void) {{
  puts("the pins are for LP64 machines only");
  return 77;
}}

#else

/* clang-format off */
/* NOLINTBEGIN(bugprone-sizeof-expression) */
{guard}#define MEMBER(type, member, offset, size, what)                         \\
  _Static_assert(offsetof(type, member) == (offset) &&                   \\
                 sizeof(((type *)0)->member) == (size) &&                \\
                 _Generic(((type *)0)->member, what: 1, default: 0),     \\
                 #type "." #member " was moved, or its type changed")
#define GROWS(type, first_size)                                          \\
  _Static_assert(sizeof(type) >= (first_size) &&                         \\
                 offsetof(type, struct_size) == 0, #type " shrank")
#define FINAL(type, size)                                                \\
  _Static_assert(sizeof(type) == (size),                                 \\
                 #type " is final and changed its size")
#define VALUE(name, value)                                               \\
  _Static_assert((name) == (value), #name " changed its value")
#define TYPE(name, what)                                                 \\
  _Static_assert(_Generic((name){{0}}, what: 1, default: 0),               \\
                 #name " is another type")
#define SIGNATURE(name, what)                                            \\
  _Static_assert(_Generic(&name, what: 1, default: 0),                   \\
                 #name " takes or returns something else")
{kinds}
"""

# The getter that serves a value is a promise, too, and so is a dtype's width.
KINDS = """
enum { F64 = 1, U64 = 2, TEXT = 3 };
#define VALUE_KIND(name, number, kind, key, unit) KMB_VALUE_##name##_is = kind,
enum { KMB_VALUE_MAP(VALUE_KIND) };
#define ATTR_KIND(name, number, kind, key) KMB_DEVICE_##name##_is = kind,
enum { KMB_DEVICE_ATTR_MAP(ATTR_KIND) };
#define DTYPE_BITS(name, number, bits, text) KMB_##name##_is = bits,
enum { KMB_DTYPE_MAP(DTYPE_BITS) };
#define ENTRY(name, value, is)                                           \\
  _Static_assert(name == (value) && name##_is == (int)(is),              \\
                 #name " changed its value, its kind or its width")
"""


def wrap(text, end=''):
    """Breaks a line behind commas, as C code of at most 80 columns."""
    lines = []
    while len(text) + len(end) > 80:
        at = text.rfind(', ', 0, 79 - len(end)) + 1
        if at <= 0:
            raise SystemExit('cannot be wrapped: ' + text)
        lines.append(text[:at] + end)
        text = '    ' + text[at:].lstrip()
    return '\n'.join(lines + [text])


def size_of(kind, structs):
    element, _, count = kind.partition('[')
    if count:
        return int(count[:-1]) * size_of(element, structs)
    if kind.endswith('*') or '(*)' in kind:
        return 8
    if kind in SIZES:
        return SIZES[kind]
    return sum(size_of(k, structs) for _, k in structs[kind].members)


def struct_pins(struct, structs):
    yield ''
    offset = 0
    for name, kind in struct.members:
        size = size_of(kind, structs)
        # In an expression an array is a pointer; its length is in the size.
        kind = re.sub(r'\[\d+\]$', ' *', kind)
        yield wrap('MEMBER(%s, %s, %d, %d, %s);'
                   % (struct.name, name, offset, size, kind))
        offset += size
    yield '%s(%s, %d);' % ('GROWS' if struct.grows else 'FINAL', struct.name,
                           offset)


def kinds(include):
    """{constant: kind or width} as the maps have them, which the preprocessor
    does not tell."""
    entry = re.compile(r'^\s*X\((\w+), -?\d+, (\w+), "', re.M)
    found = {}
    for header, prefix in (('result.h', 'KMB_VALUE_'),
                           ('device.h', 'KMB_DEVICE_'), ('base.h', 'KMB_')):
        with open('%s/kmb/%s' % (include, header), encoding='utf-8') as file:
            here = entry.findall(file.read())
        if not here:
            raise SystemExit(header + ': no map was found')
        found.update((prefix + name, kind) for name, kind in here)
    return found


def constant_pins(constants, kind_of):
    for _, name, value in constants:
        if name in kind_of:
            yield 'ENTRY(%s, %d, %s);' % (name, value, kind_of.pop(name))
        else:
            yield 'VALUE(%s, %d);' % (name, value)
    if kind_of:
        raise SystemExit('kinds of no constants: %s' % ', '.join(kind_of))


def function_pins(interface, functions, linked):
    yield ''
    for _, name, result, kinds, _ in functions:
        yield wrap('SIGNATURE(%s, %s);' % (
            name, abi_interface.function_type(result, ', '.join(kinds))))
    if not linked:
        yield from ('', 'int main(void) {', '  return 0;', '}')
        return
    yield from ('', '/* The library must have each of them, too. */',
                'typedef void (*function)(void);',
                'static const function functions[] = {')
    yield from ('    (function)%s,' % f[1] for f in functions)
    yield from ('};', '', 'int main(void) {',
                '  size_t count = sizeof functions / sizeof functions[0];',
                '  for (size_t i = 0; i < count; i++)',
                '    if (!functions[i]) return 1;',
                '  printf("%zu functions\\n", count);',
                '  return count == %d ? 0 : 1;' % len(functions), '}')


GROWTH = """\
# Structs that start with struct_size may grow at their end. Without type_kind
# abidiff 2.2 would pass insertions in the middle, too. tests/abi/rules.py keeps
# the list complete, scripts/abi_pins.py writes it.
[suppress_type]
type_kind = struct
name_regexp = ^(%s)$
has_data_member_inserted_at = end
has_size_change = yes
"""


def defined(include, header, name):
    """The text that a header defines a name as."""
    with open('%s/kmb/%s' % (include, header), encoding='utf-8') as file:
        return re.search(r'^#define %s (.*)$' % name, file.read(),
                         re.M).group(1)


def head(part, include):
    if part == 'public':
        series = defined(include, 'base.h', 'KMB_VERSION').strip('"')
        return HEAD.format(
            what='the public interface of %s,' % series.rpartition('.')[0],
            header='kmb.h', guard='', kinds=KINDS,
            promise='Never edited once that release is tagged.')
    guard = ''
    for name, why in (
            ('KMB_BACKEND_ABI', 'a new number: run scripts/abi_freeze.sh'),
            ('KMB_BACKEND_FROZEN', 'run scripts/abi_freeze.sh')):
        guard += '_Static_assert(%s == %s,\n               "%s");\n' % (
            name, defined(include, 'backend.h', name), why)
    return HEAD.format(
        what='the interface for backends,', header='backend.h', kinds='',
        guard=guard,
        promise='Rewritten with each KMB_BACKEND_ABI until '
                'KMB_BACKEND_FROZEN is 1, then\n * never edited again.')


def main():
    part, include, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    if part not in ('public', 'backend', 'growth') or not compiler:
        raise SystemExit(__doc__)
    interface = abi_interface.read(include, compiler)
    if part == 'growth':
        print(GROWTH % '|'.join(sorted(interface.growing())), end='')
        return
    structs = {s.name: s for s in interface.structs}

    def mine(entry):
        header = entry if isinstance(entry, str) else entry[0]
        return (header == 'backend.h') == (part == 'backend')

    print(head(part, include), end='')
    for entry in filter(mine, interface.types):
        print(wrap('TYPE(%s, %s);' % entry[1:]))
    print()
    print('\n'.join(constant_pins(
        filter(mine, interface.constants),
        kinds(include) if part == 'public' else {})))
    for struct in interface.structs:
        if mine(struct.header):
            print('\n'.join(struct_pins(struct, structs)))
    inits = list(filter(mine, interface.inits))
    if inits:
        print()
    for entry in inits:
        print('SIGNATURE(%s, %s (*)(void));' % entry[1:])
    functions = [f for f in interface.functions if mine(f[0])]
    print('\n'.join(function_pins(interface, functions, part == 'public')))
    print('/* NOLINTEND(bugprone-sizeof-expression) */\n/* clang-format on */'
          '\n\n#endif')


if __name__ == '__main__':
    main()
