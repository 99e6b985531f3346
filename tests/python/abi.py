"""What Python takes the C interface for is what a C compiler makes of it."""
import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from kmb import _abi, _library

SOURCE, COMPILER, LIBRARY = '', [], ''


def structs():
    return [s for s in vars(_abi).values()
            if isinstance(s, type) and issubclass(s, ctypes.Structure)
            and s is not ctypes.Structure]


def compiled(lines):
    """What a C program prints."""
    text = '#include <kmb/kmb.h>\n#include <stdio.h>\nint main(void) {\n' \
        + '\n'.join(lines) + '\n}\n'
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'layout')
        with open(program + '.c', 'w', encoding='utf-8') as file:
            file.write(text)
        subprocess.run(COMPILER + ['-I', SOURCE + '/include', program + '.c',
                                   '-o', program], check=True)
        return subprocess.run([program], capture_output=True, text=True,
                              check=True).stdout.split('\n')[:-1]


class Abi(unittest.TestCase):
    def test_each_field_lies_where_c_has_it(self):
        lines, ours = [], []
        for struct in structs():
            name = struct.__name__
            lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
            ours.append('%s %d' % (name, ctypes.sizeof(struct)))
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                lines.append(
                    'printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), '
                    'sizeof(((%s *)0)->%s));' % (name, field, name, field,
                                                 name, field))
                ours.append('%s.%s %d %d' % (name, field, place.offset,
                                             place.size))
        self.assertGreater(len(ours), 300)
        self.assertEqual(compiled(lines), ours)

    def test_each_struct_and_field_of_the_headers_is_there(self):
        named = set()
        for header in os.listdir(SOURCE + '/include/kmb'):
            if header.endswith('.h') and header != 'backend.h':
                with open('%s/include/kmb/%s' % (SOURCE, header),
                          encoding='utf-8') as file:
                    named |= set(re.findall(r'^typedef struct (kmb_\w+) \{',
                                            file.read(), re.M))
        self.assertEqual(named, {s.__name__ for s in structs()})

    def test_each_constant_has_its_value(self):
        names = [n for n in vars(_abi) if n.startswith('KMB_')]
        self.assertGreater(len(names), 200)
        lines = ['printf("%s %%lld\\n", (long long)%s);' % (n, n)
                 for n in names]
        self.assertEqual(compiled(lines),
                         ['%s %d' % (n, getattr(_abi, n)) for n in names])

    def test_each_exported_function_is_declared(self):
        with open(SOURCE + '/lib/libkmb.map', encoding='utf-8') as file:
            exported = set(re.findall(r'\b(kmb_\w+);', file.read()))
        self.assertEqual(exported, set(_abi.FUNCTIONS))

    def test_names_are_the_library_s(self):
        for name, number, bits, text in _abi.DTYPES:
            self.assertEqual(_library.lib.kmb_dtype_name(number).decode(),
                             text, name)
            out = ctypes.c_uint32()
            self.assertEqual(
                _library.lib.kmb_dtype_bits(number, ctypes.byref(out)), 0)
            self.assertEqual(out.value, bits)
        for name, number, text in _abi.STATUSES:
            self.assertEqual(_library.lib.kmb_status_text(number).decode(),
                             text, name)
        for name, number in _abi.FINDINGS:
            self.assertEqual(_library.lib.kmb_finding_name(number).decode(),
                             name)
